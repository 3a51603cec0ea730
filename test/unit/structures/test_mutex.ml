open Concord
open Concord_test_support
open Check

exception Boom

let[@inline never] culprit () = if true then raise Boom

let not_locked () =
  let t = Mutex.create () in
  let expected = Sys_error "Mutex.unlock: Operation not permitted" in
  raises "a new one" expected (fun () -> Mutex.unlock t);
  Mutex.lock t;
  Mutex.unlock t;
  raises "unlocked again" expected (fun () -> Mutex.unlock t);
  yes "it still works" (Mutex.try_lock t)

let looking () =
  let t = Mutex.create () in
  no "new" (Mutex.is_locked t);
  Mutex.lock t;
  yes "locked" (Mutex.is_locked t);
  let task = Hand.start (fun () -> Mutex.lock t) in
  Mutex.unlock t;
  yes "passed on" (Mutex.is_locked t);
  Hand.settle ();
  Hand.result task;
  Mutex.unlock t;
  no "unlocked" (Mutex.is_locked t)

(* A mutex doesn't know its holder. *)
let no_owner () =
  let t = Mutex.create () in
  let task =
    Hand.start (fun () ->
        Mutex.lock t;
        Mutex.lock t)
  in
  yes "it waits for itself" (Hand.waits task);
  in_thread (fun () -> Mutex.unlock t);
  Hand.settle ();
  Hand.result task;
  in_domain (fun () -> Mutex.unlock t);
  no "unlocked" (Mutex.is_locked t)

let no_effect () =
  let t = Mutex.create () in
  Mutex.lock t;
  no "locked" (Mutex.try_lock t);
  yes "its event too" (Event.poll (Mutex.lock_evt t) = None);
  let task = Hand.start (fun () -> Mutex.lock t) in
  int "waiters" 1 (Mutex.waiters t);
  Mutex.unlock t;
  Mutex.unlock t;
  no "free" (Mutex.is_locked t);
  int "protect" 3 (Mutex.protect t (fun () -> 3));
  raises_at "culprit" (fun () -> Mutex.protect t culprit);
  yes "free" (Event.poll (Mutex.lock_evt t) = Some ());
  Hand.settle ();
  Hand.result task

let protect_returns () =
  let t = Mutex.create () in
  int "value" 3
    (Mutex.protect t (fun () ->
         yes "locked" (Mutex.is_locked t);
         3));
  no "unlocked" (Mutex.is_locked t)

let protect_raises () =
  let t = Mutex.create () in
  raises "it raises" Boom (fun () -> Mutex.protect t culprit);
  raises_at "culprit" (fun () -> Mutex.protect t culprit);
  no "unlocked, not poisoned" (Mutex.is_locked t);
  (* The same for a task that has waited, with another one behind it. *)
  Mutex.lock t;
  let task = Hand.start (fun () -> Mutex.protect t culprit) in
  let next = Hand.start (fun () -> Mutex.protect t (fun () -> 5)) in
  Mutex.unlock t;
  Hand.settle ();
  raises_at "culprit" (fun () -> Hand.result task);
  int "passed on" 5 (Hand.result next);
  no "unlocked" (Mutex.is_locked t)

let protect_cancelled () =
  let t = Mutex.create () and gate = Promise.create () in
  let inside () = Mutex.protect t (fun () -> Promise.await gate) in
  let a = Hand.start inside in
  let b = Hand.start (fun () -> Mutex.protect t (fun () -> assert false)) in
  let c = Hand.start (fun () -> Mutex.protect t (fun () -> "c")) in
  Hand.unwind b;
  yes "not unlocked by a task that did not lock it" (Mutex.is_locked t);
  Hand.unwind a;
  Alcotest.(check string) "passed on" "c" (Hand.result c);
  no "unlocked" (Mutex.is_locked t)

(* The task has the lock when it is stopped. So it enters, and its next suspension raises. *)
let protect_resumed_then_cancelled () =
  let t = Mutex.create () in
  Mutex.lock t;
  let entered = ref false in
  let task =
    Hand.start (fun () ->
        Mutex.protect t (fun () ->
            entered := true;
            Promise.await (Promise.create ())))
  in
  Mutex.unlock t;
  Hand.stop task;
  Hand.settle ();
  yes "entered" !entered;
  Hand.unwound task;
  no "unlocked" (Mutex.is_locked t)

let make () : Lock_cases.t =
  let t = Mutex.create () in
  {
    acquire = (fun () -> Mutex.lock t);
    try_acquire = (fun () -> Mutex.try_lock t);
    release = (fun () -> Mutex.unlock t);
    waiters = (fun () -> Mutex.waiters t);
  }

let () =
  run "Mutex"
    [
      ( "operations",
        [
          test "unlock of one that is not locked" not_locked;
          test "is_locked" looking;
          test "it has no owner" no_owner;
          test "protect returns" protect_returns;
          test "protect raises" protect_raises;
          test "protect is cancelled" protect_cancelled;
          test "protect is resumed, then cancelled"
            protect_resumed_then_cancelled;
        ] );
      Outside.suite no_effect;
      Lock_cases.suite make;
    ]
