(* What tasks that Miou.cancel cancels can still do. That a cancelled wait loses nothing, in a race
   too, and that scopes pass a cancellation on, are cases of every host ([Every_host]). *)

open Concord
open Concord_test_support
open Check

let never () : unit = Event.sync Event.never

(* Runs [f] in a task that is cancelled as soon as [waits ()] is true. *)
let cancelled ~waits f =
  let task = Miou.async f in
  In_miou.eventually "it waits" waits;
  Miou.cancel task

let raises_cancelled f =
  match f () with
  | _ -> Alcotest.fail "it was not cancelled"
  | exception Miou.Cancelled -> ()

(* --- Clean-ups ----------------------------------------------------------------------- *)

(* [wait] is cancelled while its task holds the mutex, for which another task waits. *)
let unlocks wait () =
  In_miou.run @@ fun () ->
  let mutex = Mutex.create () and inside = ref false in
  let holder =
    Miou.async (fun () ->
        Mutex.protect mutex (fun () ->
            inside := true;
            wait ()))
  in
  In_miou.eventually "it is inside" (fun () -> !inside);
  let next = Miou.async (fun () -> Mutex.protect mutex ignore) in
  In_miou.eventually "the next one waits" (fun () -> Mutex.waiters mutex = 1);
  Miou.cancel holder;
  Miou.await_exn next;
  no "unlocked" (Mutex.is_locked mutex)

let goes_on_raising () =
  In_miou.run @@ fun () ->
  let box = Mvar.create_empty () and ended = ref false in
  cancelled
    ~waits:(fun () -> Mvar.waiters box = 1)
    (fun () ->
      raises_cancelled (fun () -> Mvar.take box);
      raises_cancelled (fun () -> Mvar.take box);
      raises_cancelled Tasks.yield;
      yes "cancelled" (Tasks.is_cancelled ());
      (* Operations that don't have to wait are performed. *)
      let full = Mvar.create 1 in
      int "taken" 1 (Mvar.take full);
      Mailbox.add (Mailbox.create ()) ();
      ended := true);
  yes "it came to its end" !ended;
  no "the others are not" (Tasks.is_cancelled ());
  Tasks.yield ()

(* The mutex is free, or a thread holds it for a while. *)
let condition ~held () =
  In_miou.run @@ fun () ->
  let mutex = Mutex.create () and changed = Condition.create () in
  let had_it = ref false and is_held = Atomic.make false in
  let waiter () =
    Mutex.protect mutex @@ fun () ->
    try Condition.wait changed mutex
    with e ->
      had_it := Mutex.is_locked mutex && not (Atomic.get is_held);
      raise e
  in
  let waits () =
    Condition.waiters changed = 1 && ((not held) || Atomic.get is_held)
  and hold () =
    eventually "it waits" (fun () -> Condition.waiters changed = 1);
    Mutex.lock mutex;
    Atomic.set is_held true;
    Thread.delay 0.05;
    Atomic.set is_held false;
    Mutex.unlock mutex
  in
  let join = if held then thread hold else ignore in
  cancelled ~waits waiter;
  join ();
  yes "locked again" !had_it;
  no "unlocked" (Mutex.is_locked mutex)

(* --- At effects of Miou's own ------------------------------------------------------------ *)

let asleep () = Miou_unix.sleep 60.

(* The next task computes it. *)
let lazy_value () =
  In_miou.run @@ fun () ->
  let runs = ref 0 in
  let x =
    Lazy.from_fun (fun () ->
        incr runs;
        if !runs = 1 then asleep ();
        5)
  in
  let first = Miou.async (fun () -> ignore (Lazy.force x : int)) in
  In_miou.eventually "it computes" (fun () -> !runs = 1);
  let second = Miou.async (fun () -> Lazy.force x) in
  In_miou.eventually "the other one waits" (fun () -> Lazy.waiters x = 1);
  Miou.cancel first;
  int "value" 5 (Miou.await_exn second)

(* A cancelled parent ends its children. *)
let children () =
  In_miou.run @@ fun () ->
  let p : unit Promise.t = Promise.create () in
  cancelled
    ~waits:(fun () -> Promise.waiters p = 2)
    (fun () ->
      let child = Miou.async (fun () -> Promise.await p) in
      Promise.await p;
      Miou.await_exn child);
  int "withdrawn" 0 (Promise.waiters p)

let suites =
  [
    ("cancelled", [ test "with its children" children ]);
    ( "what was cancelled",
      [
        test "unlocks" (unlocks never);
        test "unlocks, cancelled in Miou" (unlocks asleep);
        test "continues, but can't wait" goes_on_raising;
        test "has the condition's mutex" (condition ~held:false);
        test "has the condition's mutex, later" (condition ~held:true);
        test "leaves a lazy value to the next" lazy_value;
      ] );
  ]
