(* The common part of the storms. Two crews of tasks, each on its own domain, perform
   operations. Tasks of both crews cancel these at random moments. *)

open Concord_test_support.Race
module Fifo = Concord_fifo

type t = {
  index : int;  (** 0 or 1. *)
  side : side;
  pause : unit -> unit;
  random : Random.State.t;
  own : (unit -> unit) Atomic.t array;
      (** To cancel attempts of this crew, most of which wait. *)
  reachable : (unit -> unit) Atomic.t array;
      (** The same, and to cancel attempts of the other crew if another domain
          may do that. *)
  mutable attempts : int;
  mutable cancelled : int;
}

(* A host, and how its tasks attempt something. [Test_host.t] has a [cancel] too, but there the
   cancelling task waits for the end of the other one. Here tasks of both crews cancel an
   attempt, even before it has begun, and an attempt has a result. *)
and side = {
  host : Test_host.t;
  cancellable : 'a. t -> (unit -> 'a) -> 'a option;
      (** The result of the function, or [None] if it was cancelled. *)
  from_abroad : bool;  (** Whether another domain may cancel its attempts. *)
}

let any t choices = choices.(Random.State.int t.random (Array.length choices))

(* True once in [n] times. *)
let at_random t n = Random.State.int t.random n = 0
let yield t = t.pause ()
let nobody () = ()

(* [exposed t cancel f] is [f ()]. Meanwhile other tasks may call [cancel]. Each task of a crew
   finds a free slot for it. *)
let exposed t cancel f =
  let n = Array.length t.own in
  let rec occupy i =
    let slot = t.own.(i mod n) in
    if Atomic.compare_and_set slot nobody cancel then slot else occupy (i + 1)
  in
  let slot = occupy (Random.State.int t.random n) in
  let v = f () in
  Atomic.set slot nobody;
  v

let cancel_somebody t = (Atomic.get (any t t.reachable)) ()

(* --- Attempts ------------------------------------------------------------- *)

let in_task t f =
  let result = ref None in
  let work () =
    if at_random t 16 then Fifo.cancel (Fifo.self ());
    match f () with v -> result := Some v | exception Fifo.Cancelled -> ()
  in
  let task = Fifo.fork work in
  let cancel () = Fifo.cancel task in
  exposed t cancel (fun () ->
      (match Random.State.int t.random 12 with
      | 0 -> cancel ()
      | 1 ->
          yield t;
          cancel ()
      | _ -> ());
      Fifo.join task);
  !result

exception Enough

let in_context t f =
  let body context =
    let cancel () = Eio.Cancel.cancel context Enough in
    exposed t cancel (fun () ->
        if at_random t 16 then cancel ();
        match f () with
        | v -> Some v
        | exception Eio.Cancel.Cancelled Enough -> None)
  in
  let result = ref None in
  (try Eio.Cancel.sub (fun context -> result := body context)
   with Eio.Cancel.Cancelled Enough -> ());
  !result

let in_job t f =
  let promise, cancel = Basic_hosts.submit_to_any f in
  let cancel () = ignore (cancel () : bool) in
  exposed t cancel (fun () ->
      (match Random.State.int t.random 12 with
      | 0 -> cancel ()
      | 1 ->
          yield t;
          cancel ()
      | _ -> ());
      match Concord.Promise.await_result promise with
      | Ok v -> Some v
      | Error Concord.Workers.Cancelled -> None
      | Error e -> raise e)

let in_fifo host = { host; cancellable = in_task; from_abroad = true }
let fifo = in_fifo Basic_hosts.fifo
let lazy_fifo = in_fifo Basic_hosts.lazy_fifo

let eio =
  { host = Eio_hosts.fibers; cancellable = in_context; from_abroad = false }

let workers =
  { host = Basic_hosts.one_worker; cancellable = in_job; from_abroad = true }

(* [attempt t f] is [f ()], or [None] if it was cancelled. *)
let attempt t f =
  t.attempts <- t.attempts + 1;
  (match Random.State.int t.random 8 with
  | 0 | 1 | 2 -> cancel_somebody t
  | 3 -> yield t
  | _ -> ());
  let result = t.side.cancellable t f in
  if Option.is_none result then t.cancelled <- t.cancelled + 1;
  result

(* Repeats the attempt until it isn't cancelled. *)
let rec insist t f = match attempt t f with Some v -> v | None -> insist t f

(* --- Storms --------------------------------------------------------------- *)

let storms = ref 0

(* [storm hosts tasks] runs [tasks crew] for both crews. When they have ended, it returns how
   many attempts they made, and how many of these were cancelled. *)
let storm (a, b) tasks =
  incr storms;
  let slots () = Array.init 20 (fun _ -> Atomic.make nobody) in
  let own_a = slots () and own_b = slots () in
  let abroad side own = if side.from_abroad then own else [||] in
  let work index side own others =
    let made = ref None in
    let body (host : Test_host.tasks) =
      let crew =
        {
          index;
          side;
          pause = host.pause;
          random = random ((2 * !storms) + index);
          own;
          reachable = Array.append own others;
          attempts = 0;
          cancelled = 0;
        }
      in
      made := Some crew;
      List.iter host.fork (tasks crew)
    in
    match side.host.run body with
    | () -> Option.get !made (* [run] has called [body] *)
    | exception e -> fail "a host ended with %s" (Printexc.to_string e)
  in
  let domain = Domain.spawn (fun () -> work 0 a own_a (abroad b own_b)) in
  let b = work 1 b own_b (abroad a own_a) in
  let a = Domain.join domain in
  (a.attempts + b.attempts, a.cancelled + b.cancelled)

let sides = [ (fifo, fifo); (lazy_fifo, fifo); (eio, fifo); (workers, fifo) ]

(* Each storm between each pair of sides. The order is such that every third cell together
   contains each storm at least once, with different sides. *)
let cells storms =
  let between i storm =
    List.mapi
      (fun j _ -> (storm, List.nth sides ((i + j) mod List.length sides)))
      sides
  in
  List.concat (List.mapi between storms)

(* [rounds n storms] repeats each storm [n] times and prints the totals. The seed draws one
   pair of sides for each storm. A long run uses all pairs. *)
let rounds n storms =
  let each ((name_of_storm, storm), ((a, b) as hosts)) =
    let start = Unix.gettimeofday () in
    let attempts = ref 0 and cancelled = ref 0 in
    for _ = 1 to n do
      let more, of_them_cancelled = storm hosts in
      attempts := !attempts + more;
      cancelled := !cancelled + of_them_cancelled
    done;
    let seconds = Unix.gettimeofday () -. start in
    Printf.printf
      "%-16s %-10s and %-4s %8d attempts %8d cancelled %8.0f per second\n%!"
      name_of_storm a.host.name b.host.name !attempts !cancelled
      (float !attempts /. seconds)
  in
  watchdog ~seconds:(if long then 3_600. else 90.);
  List.iter each (drawn (cells storms))
