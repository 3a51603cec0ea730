(* The loop of the small scheduler, and how other threads reach it. *)

open Concord.Tools
open Host_kit

exception Cancelled

type task = {
  mutable cancelled : bool;
  protections : int ref;
  mutable give_up : unit -> unit;  (** Resumes the wait in progress. *)
}

(* Except for the inbox and the atomic fields, everything belongs to the loop's thread. *)
type loop = {
  host : Host_kit.t;
  inbox : (unit -> unit) Inbox.t;
  bell : unit Suspend.resumer Atomic.t;
  mutable tasks : task list;
  mutable failure : (exn * Printexc.raw_backtrace) option;
  thread : int;
  mutable in_task : bool;
  mutable in_block : bool;
  mutable waiting : int;
  mutable own : int;  (** Messages of this thread. *)
  mutable sleeps : int;
  mutable spawns : int;
  mutable resumptions : int;  (** By tasks of the loop. *)
  all_protections : int ref;
  lock : Stdlib.Mutex.t;
  mutable first_ended : bool;
  ended : bool Atomic.t;
}

(* The loop that was started last on this domain. *)
let current : loop option Domain.DLS.key = Domain.DLS.new_key (fun () -> None)
let in_turn = Stdlib.Mutex.create ()
let self () = Thread.id (Thread.self ())

(* A message may be served again if a signal handler raised. *)
let once job =
  let job = ref job in
  fun () ->
    let f = !job in
    job := ignore;
    f ()

let tell t : Inbox.posted -> bool = function
  | Refused -> false
  | Posted -> true
  | Posted_to_sleeper ->
      ignore ((Atomic.get t.bell) (Ok ()) : bool);
      true

let post t job = ignore (tell t (Inbox.post t.inbox (once job)) : bool)

(* Whether the loop of Fifo waits. Its wait performs the same effect as that of any task, so
   only the frames of its stack distinguish it. *)
let is_of_loop k =
  let is_of_fifo slot =
    match Printexc.Slot.name slot with
    | Some name -> String.starts_with ~prefix:"Concord__Loop." name
    | None -> false
  in
  Effect.Deep.get_callstack k 100
  |> Printexc.backtrace_slots |> Option.value ~default:[||]
  |> Array.exists is_of_fifo
