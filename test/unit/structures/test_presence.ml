(* A waiter that was cancelled, and not unwound yet: what others see of it. Its
   resumer refuses, so it is given nothing; and where it would be enough that it is
   there, either it is not counted, or the interface says so. *)

open Concord
open Concord_test_support
open Check

(* [others] sees [wait] cancelled; [waiters] counts it until it is unwound. *)
let check ?(counted = 1) ~waiters ~others wait () =
  let task = Hand.start wait in
  int "waits" 1 (waiters ());
  yes "cancel" (Hand.cancel task);
  int "is counted still" counted (waiters ());
  others ();
  Hand.settle ();
  Hand.unwound task;
  int "is unwound" 0 (waiters ())

let mutex () =
  let t = Mutex.create () in
  Mutex.lock t;
  check
    ~waiters:(fun () -> Mutex.waiters t)
    ~others:(fun () ->
      yes "locked" (Mutex.is_locked t);
      no "try" (Mutex.try_lock t);
      Mutex.unlock t;
      no "unlocked" (Mutex.is_locked t);
      yes "try" (Mutex.try_lock t))
    (fun () -> Mutex.lock t)
    ()

let semaphore () =
  let t = Semaphore.Counting.make 0 in
  check
    ~waiters:(fun () -> Semaphore.Counting.waiters t)
    ~others:(fun () ->
      Semaphore.Counting.release t;
      Semaphore.Counting.release t;
      int "permits" 2 (Semaphore.Counting.get_value t);
      yes "try" (Semaphore.Counting.try_acquire t))
    (fun () -> Semaphore.Counting.acquire t)
    ()

let binary () =
  let t = Semaphore.Binary.make false in
  check
    ~waiters:(fun () -> Semaphore.Binary.waiters t)
    ~others:(fun () ->
      Semaphore.Binary.release t;
      yes "try" (Semaphore.Binary.try_acquire t))
    (fun () -> Semaphore.Binary.acquire t)
    ()

let condition () =
  let t = Condition.create () and mutex = Mutex.create () in
  Mutex.lock mutex;
  check
    ~waiters:(fun () -> Condition.waiters t)
    ~others:(fun () ->
      Mutex.lock mutex;
      let second = Hand.start (fun () -> Condition.wait t mutex) in
      Condition.signal t;
      no "the second is signalled" (Hand.cancel second);
      Hand.settle ();
      (* the first one has the mutex, and leaves it locked *)
      Mutex.unlock mutex;
      Hand.settle ();
      Hand.result second)
    (fun () -> Condition.wait t mutex)
    ()

let latch () =
  let t = Latch.create 1 in
  check ~counted:1
    ~waiters:(fun () -> Latch.waiters t)
    ~others:(fun () ->
      int "count" 1 (Latch.count t);
      Latch.count_down t;
      yes "open" (Latch.is_open t))
    (fun () -> Latch.await t)
    ()

let promise () =
  let t : unit Promise.t = Promise.create () in
  check
    ~waiters:(fun () -> Promise.waiters t)
    ~others:(fun () -> int "as documented" 1 (Promise.fail_waiters t Not_found))
    (fun () -> Promise.await t)
    ()

let mvar_taker () =
  let t = Mvar.create_empty () in
  check
    ~waiters:(fun () -> Mvar.waiters t)
    ~others:(fun () ->
      yes "empty" (Mvar.is_empty t);
      yes "put" (Mvar.try_put t 1);
      no "full" (Mvar.try_put t 2);
      yes "take" (Mvar.take_available t = Some 1))
    (fun () -> Mvar.take t)
    ()

let mvar_putter () =
  let t = Mvar.create 1 in
  check
    ~waiters:(fun () -> Mvar.waiters t)
    ~others:(fun () ->
      no "full" (Mvar.try_put t 3);
      yes "take" (Mvar.take_available t = Some 1);
      yes "nothing follows" (Mvar.is_empty t);
      yes "put" (Mvar.try_put t 4))
    (fun () -> Mvar.put t 2)
    ()

let stream_adder () =
  let t = Stream.create 1 in
  Stream.add t 1;
  check
    ~waiters:(fun () -> Stream.waiters t)
    ~others:(fun () ->
      no "full" (Stream.try_add t 3);
      yes "take" (Stream.try_take t = Some 1);
      yes "nothing follows" (Stream.is_empty t);
      yes "room" (Stream.try_add t 4);
      yes "take" (Stream.try_take t = Some 4))
    (fun () -> Stream.add t 2)
    ()

let stream_taker () =
  let t = Stream.create 1 in
  check
    ~waiters:(fun () -> Stream.waiters t)
    ~others:(fun () ->
      yes "room" (Stream.try_add t 1);
      no "full" (Stream.try_add t 2);
      yes "take" (Stream.try_take t = Some 1))
    (fun () -> Stream.take t)
    ()

let mailbox () =
  let t = Mailbox.create () in
  check
    ~waiters:(fun () -> Mailbox.waiters t)
    ~others:(fun () ->
      Mailbox.put t 1;
      yes "take" (Mailbox.try_take t = Some 1))
    (fun () -> Mailbox.take t)
    ()

let channel_sender () =
  let t = Channel.create () in
  check
    ~waiters:(fun () -> Channel.waiters t)
    ~others:(fun () ->
      yes "nobody sends" (Channel.try_receive t = None);
      no "nobody receives" (Channel.try_send t 2))
    (fun () -> Channel.send t 1)
    ()

let channel_receiver () =
  let t = Channel.create () in
  check
    ~waiters:(fun () -> Channel.waiters t)
    ~others:(fun () ->
      no "nobody receives" (Channel.try_send t 1);
      yes "nobody sends" (Channel.try_receive t = None))
    (fun () -> ignore (Channel.receive t : int))
    ()

let broadcast () =
  let t = Broadcast.create () in
  let s = Broadcast.subscribe t in
  check
    ~waiters:(fun () -> Broadcast.waiters s)
    ~others:(fun () ->
      Broadcast.send t 1;
      yes "the value" (Broadcast.try_receive s = Some 1))
    (fun () -> ignore (Broadcast.receive s : int))
    ()

let lazy_ () =
  let gate = Promise.create () in
  let t = Lazy.from_fun (fun () -> Promise.await gate) in
  let first = Hand.start (fun () -> Lazy.force t) in
  check
    ~waiters:(fun () -> Lazy.waiters t)
    ~others:(fun () ->
      Promise.fill gate 1;
      Hand.settle ();
      int "forced" 1 (Hand.result first);
      int "forced" 1 (Lazy.force t))
    (fun () -> ignore (Lazy.force t : int))
    ()

let barrier () =
  let t = Barrier.create 2 in
  check
    ~waiters:(fun () -> Barrier.waiters t)
    ~others:(fun () ->
      yes "nobody else has come" (Event.poll (Barrier.await_evt t) = None))
    (fun () -> Barrier.await t)
    ()

(* Here presence matters. As documented, until it is unwound. *)
let rwlock prefer () =
  let t = Rwlock.create ~prefer () in
  Rwlock.read_lock t;
  let reader = ref None in
  check
    ~waiters:(fun () -> Rwlock.waiters t)
    ~others:(fun () ->
      no "as documented" (Rwlock.try_read_lock t);
      reader := Some (Hand.start (fun () -> Rwlock.read_lock t));
      int "both wait" 2 (Rwlock.waiters t))
    (fun () -> Rwlock.write_lock t)
    ();
  Hand.result (Option.get !reader);
  yes "unwound" (Rwlock.try_read_lock t)

(* Whoever unlocks asks it, and so needs not wait for it. *)
let rwlock_asked prefer () =
  let t = Rwlock.create ~prefer () in
  Rwlock.read_lock t;
  check
    ~waiters:(fun () -> Rwlock.waiters t)
    ~others:(fun () ->
      let reader = Hand.start (fun () -> Rwlock.read_lock t) in
      Rwlock.read_unlock t;
      Hand.settle ();
      Hand.result reader)
    (fun () -> Rwlock.write_lock t)
    ()

(* However lazily the writer is cancelled. *)
let rwlock_in_fifo cancellation () =
  let t = Rwlock.create () in
  Rwlock.read_lock t;
  Concord_fifo.run ~cancellation (fun () ->
      let writer = Concord_fifo.fork (fun () -> Rwlock.write_lock t) in
      let reader = Concord_fifo.fork (fun () -> Rwlock.read_lock t) in
      Concord_fifo.cancel writer;
      Concord_fifo.join reader);
  int "nobody waits" 0 (Rwlock.waiters t)

let () =
  run "A cancelled waiter that is not unwound"
    [
      ( "is given nothing",
        [
          test "Mutex" mutex;
          test "Semaphore.Counting" semaphore;
          test "Semaphore.Binary" binary;
          test "Condition" condition;
          test "Latch" latch;
          test "Promise" promise;
          test "Mvar: a taker" mvar_taker;
          test "Mvar: a putter" mvar_putter;
          test "Stream: an adder" stream_adder;
          test "Stream: a taker" stream_taker;
          test "Mailbox" mailbox;
          test "Channel: a sender" channel_sender;
          test "Channel: a receiver" channel_receiver;
          test "Broadcast" broadcast;
          test "Lazy" lazy_;
          test "Barrier" barrier;
        ] );
      ( "keeps readers out of a Rwlock until it is unwound",
        [
          test "fair" (rwlock `Nobody);
          test "writers first" (rwlock `Writers);
          test "fair: unlocking passes it over" (rwlock_asked `Nobody);
          test "writers first: unlocking passes it over" (rwlock_asked `Writers);
          test "in Fifo, eager" (rwlock_in_fifo `Eager);
          test "in Fifo, lazy" (rwlock_in_fifo `Lazy);
        ] );
    ]
