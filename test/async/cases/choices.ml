(* Operations in Async's own choices, of which the loser is still performed, and the choices of
   events, of which the loser is withdrawn. *)

open Concord
open Concord_test_support
open Check
open In_async
module Ivar = Async.Ivar
module Scheduler = Async.Scheduler
module Clock = Async.Clock

let soon = Core.Time_float.Span.of_sec 0.002

(* --- Async's choices ------------------------------------------------------- *)

(* The operations of all three begin before the choice, and no choice ends them. *)
let chosen_by =
  [
    ("any", fun a b -> Deferred.any [ a; b ]);
    ( "choose",
      fun a b ->
        Deferred.choose [ Deferred.choice a Fun.id; Deferred.choice b Fun.id ]
    );
    ( "with_timeout",
      fun a _ ->
        Deferred.map (Clock.with_timeout soon a) ~f:(function
          | `Timeout -> 0
          | `Result v -> v) );
  ]

(* The other one waits, and gets the next item, which nobody sees. *)
let loser choose () =
  async @@ fun () ->
  let box = Mvar.create_empty () and other = Mvar.create 0 in
  let* v = choose (A.Mvar.take box) (A.Mvar.take other) in
  int "chosen" 0 v;
  int "it still waits" 1 (Mvar.waiters box);
  Mvar.put box 1;
  yes "and takes" (Mvar.is_empty box);
  Deferred.return ()

(* The loser of [any] against [Scheduler.yield]. *)
let dropped t = Deferred.any [ Deferred.map t ~f:ignore; Scheduler.yield () ]

let others () =
  async @@ fun () ->
  let full = Mvar.create 1 in
  let* () = dropped (A.Mvar.put full 2) in
  int "before" 1 (Mvar.take full);
  int "put later" 2 (Mvar.take full);
  let mutex = Mutex.create () in
  Mutex.lock mutex;
  let* () = dropped (A.Mutex.lock mutex) in
  Mutex.unlock mutex;
  yes "the loser has the lock" (Mutex.is_locked mutex);
  let ran = ref false in
  let* () =
    dropped
      (A.Mutex.with_lock mutex (fun () ->
           ran := true;
           Deferred.return ()))
  in
  Mutex.unlock mutex;
  let* () = Async.Scheduler.yield_until_no_jobs_remain () in
  yes "the function ran" !ran;
  no "and unlocked" (Mutex.is_locked mutex);
  let box = Mvar.create_empty () and ended = ref false in
  let code () =
    Mvar.take box;
    ended := true
  in
  let* () = dropped (A.direct code) in
  Mvar.put box ();
  let* () = Async.Scheduler.yield_until_no_jobs_remain () in
  yes "the code has ended" !ended;
  let promise = Promise.create () in
  let* () = dropped (A.Promise.await promise) in
  Promise.fill promise 1;
  int "not lost" 1 (Promise.await promise);
  Deferred.return ()

let both_ready () =
  async @@ fun () ->
  let a = Mvar.create 1 and b = Mvar.create 2 in
  let* _ = Deferred.any [ A.Mvar.take a; A.Mvar.take b ] in
  yes "both were taken" (Mvar.is_empty a && Mvar.is_empty b);
  let a = Mvar.create 1 and b = Mvar.create 2 in
  let* _ = A.select [ Mvar.take_evt a; Mvar.take_evt b ] in
  yes "one was taken" (Mvar.is_empty a <> Mvar.is_empty b);
  Deferred.return ()

(* --- What to use instead ----------------------------------------------------- *)

let locks () =
  async @@ fun () ->
  let mutex = Mutex.create () in
  Mutex.lock mutex;
  let* () =
    A.select [ Mutex.lock_evt mutex; A.determined (Scheduler.yield ()) ]
  in
  Mutex.unlock mutex;
  no "withdrawn" (Mutex.is_locked mutex);
  Deferred.return ()

(* In most rounds, the item comes from a domain while a deferred is determined. One of the two is
   chosen, and then the item was taken, or is still there. *)
let race () =
  async @@ fun () ->
  let rounds = if Race.long then 20_000 else 2_000 in
  let box = Mvar.create_empty () and round = Atomic.make 0 in
  let stopped = ref 0 in
  let other =
    in_domain (fun f -> f ()) @@ fun () ->
    for i = 1 to rounds do
      while Atomic.get round < i do
        Domain.cpu_relax ()
      done;
      Mvar.put box i
    done
  in
  let take stop =
    A.select
      [
        Event.wrap (Mvar.take_evt box) Option.some;
        Event.wrap (A.determined (Ivar.read stop)) (fun () -> None);
      ]
  in
  let rec next i =
    if i > rounds then Deferred.return ()
    else begin
      let stop = Ivar.create () in
      let taken = take stop in
      let only_stop = i mod 10 = 0 and only_put = i mod 10 = 5 in
      if not only_stop then Atomic.set round i;
      for _ = 1 to i mod 50 do
        Domain.cpu_relax ()
      done;
      if not only_put then Ivar.fill_exn stop ();
      let* v = taken in
      Atomic.set round i;
      let* v =
        match v with
        | Some v -> Deferred.return v
        | None ->
            incr stopped;
            A.Mvar.take box
      in
      int "the next one" i v;
      next (i + 1)
    end
  in
  let* () = next 1 in
  yes "both were chosen" (!stopped > 0 && !stopped < rounds);
  other

(* Several operations are stopped together. The code is unwound, wherever it waits. *)
let stopped () =
  async @@ fun () ->
  let mutex = Mutex.create () and box : int Mvar.t = Mvar.create_empty () in
  let unwound = ref false and stop = Ivar.create () in
  let use () =
    Mutex.protect mutex @@ fun () ->
    Fun.protect ~finally:(fun () -> unwound := true) @@ fun () ->
    Some (Mvar.take box + Mvar.take box)
  in
  let all_is_undone what =
    yes (what ^ ": unwound") !unwound;
    no (what ^ ": unlocked") (Mutex.is_locked mutex);
    int (what ^ ": withdrawn") 0 (Mvar.waiters box);
    unwound := false
  in
  let* v = A.direct (fun () -> Tasks.with_timeout 0.002 use) in
  yes "too late" (v = None);
  all_is_undone "a timeout";
  let first =
    A.direct (fun () ->
        Tasks.first use (fun () ->
            Event.sync (A.determined (Ivar.read stop));
            None))
  in
  let* () = Scheduler.yield () in
  int "it waits" 1 (Mvar.waiters box);
  Ivar.fill_exn stop ();
  let* v = first in
  yes "stopped" (v = None);
  all_is_undone "a deferred";
  Deferred.return ()

let tests =
  [
    ( "Async's choices",
      List.map (fun (name, choose) -> test name (loser choose)) chosen_by
      @ [ test "other operations" others; test "both are ready" both_ready ] );
    ( "choices of events",
      [
        test "locks" locks;
        test "either, in a race" race;
        test "several operations" stopped;
      ] );
  ]
