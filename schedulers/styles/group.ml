open Concord.Tools
module Decision = Host_kit.Decision
module Inbox = Host_kit.Inbox
module Spin = Host_kit.Spin
module Timer = Concord.Private.Timer
module Atomically = Concord.Private.Atomically

exception Deadlock of int
exception Ended

let () =
  Concord.Tasks.cancels_by (function Ended -> true | _ -> false);
  Printexc.register_printer (function
    | Deadlock threads ->
        Some
          (Printf.sprintf
             "Concord_styles.Deadlock: %d threads wait, and nothing is left \
              that could resume them"
             threads)
    | Ended -> Some "Concord_styles.Ended"
    | _ -> None)

(* The interface explains the fields. *)
type turn =
  | Call of { f : unit -> unit; mutable has_begun : bool }
  | Go_on of { f : unit -> unit; mutable has_begun : bool }
  | Deliver : 'a wait -> turn

and 'a wait = {
  decision : 'a Decision.t;
  go_on : ('a, exn) result -> unit;
  protected : bool;
  mutable index : int;
}

type any_wait = Wait : 'a wait -> any_wait [@@unboxed]
type phase = Before_start | Running | Away
type ending = Not_yet | Stopping | Failing of exn * Printexc.raw_backtrace

type 'd t = {
  data : 'd;
  mutable thread : int;
  host : Host_kit.t;
  turns : turn Inbox.t;
  mutable has_performed : bool;
  mutable bell : unit Suspend.resumer;
  mutable phase : phase;
  mutable ending : ending;
  mutable waits : any_wait array;
  mutable n_waits : int;
  mutable in_host : bool option;
  spin : Spin.t;
}

type 'd style = {
  name : string;
  create : unit -> 'd;
  clear : 'd -> unit;
  groups : 'd t list Atomic.t Domain.DLS.key;
}

let style ?(clear = ignore) ~name create =
  let groups = Domain.DLS.new_key (fun () -> Atomic.make []) in
  { name; create; clear; groups }

(* --- The calling thread's group --------------------------------------------- *)

let this_thread () = Thread.id (Thread.self ())

let is_away t =
  match t.phase with Away -> true | Before_start | Running -> false

let rec of_thread thread = function
  | [] -> None
  | t :: _ when t.thread = thread && not (is_away t) -> Some t
  | _ :: others -> of_thread thread others

let find style =
  of_thread (this_thread ()) (Atomic.get (Domain.DLS.get style.groups))

let enter style t =
  t.thread <- this_thread ();
  Atomically.update (Domain.DLS.get style.groups) (List.cons t)

(* From the first step on, [find] doesn't return [t]. If a signal handler raises before the
   second step, the next group that leaves removes [t] from the list. *)
let leave style t =
  t.phase <- Away;
  Atomically.update
    (Domain.DLS.get style.groups)
    (List.filter (fun other -> not (is_away other)))

let delivered = -1

let no_wait =
  let decision = Decision.create () in
  Wait { decision; go_on = ignore; protected = true; index = delivered }

let create style =
  {
    data = style.create ();
    thread = this_thread ();
    host = Host_kit.create ();
    turns = Inbox.create ();
    has_performed = false;
    bell = (fun _ -> false);
    phase = Before_start;
    ending = Not_yet;
    waits = Array.make 16 no_wait;
    n_waits = 0;
    in_host = None;
    spin = Spin.create ();
  }

let running style =
  match find style with
  | Some ({ phase = Running; _ } as t) -> t
  | Some _ | None ->
      Printf.ksprintf invalid_arg
        "Concord_styles.%s: an operation that must wait was called outside of \
         the threads of this style. Spawn the caller as a thread, and call \
         start"
        style.name

let data t = t.data
let name style = style.name
let host t = t.host

let is_ending t =
  match t.ending with Not_yet -> false | Stopping | Failing _ -> true

let raise_if_stopped t = if is_ending t then raise_notrace Ended

let host_of_caller style =
  match find style with
  | Some { phase = Running; host; _ } -> Some host
  | Some _ | None -> None

(* --- Turns -------------------------------------------------------------------- *)

let wake t = ignore (t.bell (Ok ()) : bool)

let post t turn =
  match Inbox.post t.turns turn with
  | Posted_to_sleeper -> wake t
  | Posted | Refused -> ()

let enqueue t f = post t (Call { f; has_begun = false })
let enqueue_stack t f = post t (Go_on { f; has_begun = false })

let spawn style f =
  match find style with
  | Some t -> enqueue t f
  | None ->
      let t = create style in
      enqueue t f;
      enter style t

(* --- Waiting ------------------------------------------------------------------ *)

let add_wait t wait =
  let n = t.n_waits in
  if n = Array.length t.waits then
    t.waits <- Array.append t.waits (Array.make n no_wait);
  t.waits.(n) <- Wait wait;
  t.n_waits <- n + 1

(* The last wait is moved to the free slot. *)
let remove_wait t wait =
  let n = t.n_waits - 1 in
  let (Wait last as any) = t.waits.(n) in
  t.waits.(wait.index) <- any;
  last.index <- wait.index;
  t.waits.(n) <- no_wait;
  t.n_waits <- n;
  wait.index <- delivered

let resumer t wait =
  let wake () = wake t and turn _ = Deliver wait in
  Inbox.resumer t.turns ~wake wait.decision turn

exception Hold

type 'a held = { go_on : ('a, exn) result -> unit }

(* [held_by_resumer go_on] is [(go_on', hold)]. [go_on'] doesn't keep [go_on] alive until [hold]
   or [go_on' (Error Hold)] was called. Until then, [go_on'] does nothing. A resumer that
   resumes the task calls [hold] first, because the resumer may be collected before the task
   runs. *)
let held_by_resumer go_on =
  let held = { go_on } and strong = Atomic.make None in
  let _, weak = Concord.Private.Identity.viewed held Fun.id in
  let hold () = Atomic.set strong (Some held) in
  let go_on = function
    | Error Hold -> Atomic.set strong (weak ())
    | outcome ->
        Option.iter (fun { go_on } -> go_on outcome) (Atomic.get strong)
  in
  (go_on, hold)

(* Each waiting thread continues with [Ended], unless it was resumed before. *)
let resume_all t ~even_protected =
  for i = 0 to t.n_waits - 1 do
    let (Wait wait) = t.waits.(i) in
    if even_protected || not wait.protected then begin
      if Concord.Private.Observer.finds_leaks () then wait.go_on (Error Hold);
      ignore (resumer t wait (Error Ended) : bool)
    end
  done

let[@inline] begin_wait t ~protected go_on =
  let decision = Decision.create () in
  let wait = { decision; go_on; protected; index = t.n_waits } in
  add_wait t wait;
  wait

let[@inline] offer t wait resumer block go_on =
  let outcome = Decision.offer wait.decision resumer block in
  if not (Decision.is_undecided outcome) then begin
    remove_wait t wait;
    go_on outcome
  end

(* While the program looks for leaks, only the resumer keeps the rest of the thread
   alive. *)
let[@inline never] wait_guarded t ~protected block go_on =
  let held, hold = held_by_resumer go_on in
  let wait = begin_wait t ~protected held in
  let resume = resumer t wait in
  let resumer outcome =
    hold ();
    Sys.opaque_identity (resume outcome)
  in
  offer t wait resumer block go_on

let wait t ~protected block go_on =
  if is_ending t && not protected then go_on (Error Ended)
  else if Concord.Private.Observer.finds_leaks () then
    wait_guarded t ~protected block go_on
  else
    let wait = begin_wait t ~protected go_on in
    offer t wait (resumer t wait) block go_on

(* A turn leaves the queue only when it has returned. It may throw to another continuation
   instead, or a signal handler may raise before it has begun. So [perform] may see a turn
   again, and begins it only once. *)
let perform t turn =
  match turn with
  | Call ({ f; has_begun = false } as call) ->
      call.has_begun <- true;
      t.has_performed <- true;
      if not (is_ending t) then f ()
  | Go_on ({ f; has_begun = false } as go_on) ->
      go_on.has_begun <- true;
      t.has_performed <- true;
      f ()
  | Deliver wait when wait.index <> delivered ->
      remove_wait t wait;
      t.has_performed <- true;
      wait.go_on (Decision.outcome wait.decision)
  | Call _ | Go_on _ | Deliver _ ->
      (* It had begun before. *)
      ()

(* While threads keep the domain busy, the timers' thread would be late. So the loop runs
   timers too. *)
let serve_timers t =
  if Inbox.served t.turns land 63 = 0 && not (Timer.is_idle ()) then
    Timer.run_due ()

let rec turn t =
  serve_timers t;
  t.has_performed <- false;
  Inbox.serve t.turns (fun turn -> perform t turn)
  && (t.has_performed
    ||
    (* This turn had begun before, so try the next one. *)
    turn t)

let is_ready t = not (Inbox.is_empty t.turns)
