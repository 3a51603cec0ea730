(* One choice over all structures. *)

open Concord
open Concord_test_support
open Check

type alternative = {
  name : string;
  event : unit Event.t;
  perform : unit -> unit;  (** Makes it ready. *)
  untouched : unit -> bool;
      (** After [perform], that nobody performed the event. *)
  waiters : unit -> int;
}

let unit event = Event.wrap event ignore

let alternative name event perform untouched waiters =
  { name; event = unit event; perform; untouched; waiters }

let some = Option.is_some
let kept () = true

let boxes () =
  let take = Mvar.create_empty () and put = Mvar.create 1 in
  let read = Mvar.create_empty () and swap = Mvar.create_empty () in
  let waiters t () = Mvar.waiters t and full t () = not (Mvar.is_empty t) in
  let fill t () = Mvar.put t 1 in
  [
    alternative "Mvar.take" (Mvar.take_evt take) (fill take) (full take)
      (waiters take);
    alternative "Mvar.put" (Mvar.put_evt put 2)
      (fun () -> ignore (Mvar.take put : int))
      (fun () -> Mvar.is_empty put)
      (waiters put);
    alternative "Mvar.read" (Mvar.read_evt read) (fill read) (full read)
      (waiters read);
    alternative "Mvar.swap" (Mvar.swap_evt swap 5) (fill swap)
      (fun () -> Mvar.take_available swap = Some 1)
      (waiters swap);
  ]

let locks () =
  let mutex = Mutex.create () and read = Rwlock.create () in
  let write = Rwlock.create () and counting = Semaphore.Counting.make 0 in
  let binary = Semaphore.Binary.make false in
  Mutex.lock mutex;
  Rwlock.write_lock read;
  Rwlock.read_lock write;
  [
    alternative "Mutex" (Mutex.lock_evt mutex)
      (fun () -> Mutex.unlock mutex)
      (fun () -> not (Mutex.is_locked mutex))
      (fun () -> Mutex.waiters mutex);
    alternative "Rwlock.read"
      (Rwlock.read_lock_evt read)
      (fun () -> Rwlock.write_unlock read)
      (fun () -> Rwlock.try_write_lock read)
      (fun () -> Rwlock.waiters read);
    alternative "Rwlock.write"
      (Rwlock.write_lock_evt write)
      (fun () -> Rwlock.read_unlock write)
      (fun () -> Rwlock.try_write_lock write)
      (fun () -> Rwlock.waiters write);
    alternative "Semaphore.Counting"
      (Semaphore.Counting.acquire_evt counting)
      (fun () -> Semaphore.Counting.release counting)
      (fun () -> Semaphore.Counting.get_value counting = 1)
      (fun () -> Semaphore.Counting.waiters counting);
    alternative "Semaphore.Binary"
      (Semaphore.Binary.acquire_evt binary)
      (fun () -> Semaphore.Binary.release binary)
      (fun () -> Semaphore.Binary.try_acquire binary)
      (fun () -> Semaphore.Binary.waiters binary);
  ]

let gates () =
  let promise = Promise.create () and latch = Latch.create 1 in
  let barrier = Barrier.create 2 and condition = Condition.create () in
  let mutex = Mutex.create () in
  Mutex.lock mutex;
  [
    alternative "Promise"
      (Promise.await_evt promise)
      (fun () -> Promise.fill promise ())
      kept
      (fun () -> Promise.waiters promise);
    alternative "Latch" (Latch.await_evt latch)
      (fun () -> Latch.count_down latch)
      kept
      (fun () -> Latch.waiters latch);
    alternative "Barrier"
      (Barrier.await_evt barrier)
      (fun () ->
        ignore (Hand.start (fun () -> Barrier.await barrier) : _ Hand.t))
      (* The others go through even if one that has arrived withdraws just then. *)
      kept
      (fun () -> Barrier.waiters barrier);
    alternative "Condition"
      (Condition.wait_evt condition mutex)
      (fun () -> Condition.signal condition)
      (fun () -> Mutex.is_locked mutex)
      (fun () -> Condition.waiters condition);
  ]

let queues () =
  let full = Stream.create 1 and empty = Stream.create 1 in
  let mailbox = Mailbox.create () and send = Channel.create () in
  let receive = Channel.create () and news = Broadcast.create () in
  let reader = Broadcast.subscribe news in
  Stream.add full 1;
  let start f = ignore (Hand.start f : unit Hand.t) in
  [
    alternative "Stream.add" (Stream.add_evt full 2)
      (fun () -> ignore (Stream.take full : int))
      (fun () -> Stream.is_empty full)
      (fun () -> Stream.waiters full);
    alternative "Stream.take" (Stream.take_evt empty)
      (fun () -> Stream.add empty 1)
      (fun () -> Stream.length empty = 1)
      (fun () -> Stream.waiters empty);
    alternative "Mailbox.take" (Mailbox.take_evt mailbox)
      (fun () -> Mailbox.put mailbox 1)
      (fun () -> Mailbox.length mailbox = 1)
      (fun () -> Mailbox.waiters mailbox);
    alternative "Channel.send" (Channel.send_evt send 1)
      (fun () -> start (fun () -> ignore (Channel.receive send : int)))
      (fun () -> Channel.try_send send 1)
      (fun () -> Channel.waiters send);
    alternative "Channel.receive"
      (Channel.receive_evt receive)
      (fun () -> start (fun () -> Channel.send receive 1))
      (fun () -> some (Channel.try_receive receive))
      (fun () -> Channel.waiters receive);
    alternative "Broadcast.receive"
      (Broadcast.receive_evt reader)
      (fun () -> Broadcast.send news 1)
      (fun () -> some (Broadcast.try_receive reader))
      (fun () -> Broadcast.waiters reader);
  ]

let all () = List.concat [ boxes (); locks (); gates (); queues () ]
let count = List.length (all ())
let named a = Event.wrap a.event (fun () -> a.name)

(* All wait; the one of this index is performed. *)
let chosen alternatives i =
  let task =
    Hand.start (fun () -> Event.select (List.map named alternatives))
  in
  List.iter (fun a -> int (a.name ^ " waits") 1 (a.waiters ())) alternatives;
  (task, List.nth alternatives i)

let others alternatives it = List.filter (fun a -> a != it) alternatives

let one_by_one () =
  for i = 0 to count - 1 do
    let alternatives = all () in
    let task, it = chosen alternatives i in
    it.perform ();
    Hand.settle ();
    Alcotest.(check string) "chosen" it.name (Hand.result task);
    List.iter (fun a -> int a.name 0 (a.waiters ())) alternatives;
    let untouched a =
      a.perform ();
      yes (a.name ^ " is untouched") (a.untouched ())
    in
    List.iter untouched (others alternatives it)
  done

let all_before_it_runs () =
  for i = 0 to count - 1 do
    let alternatives = all () in
    let task, it = chosen alternatives i in
    let others = others alternatives it in
    it.perform ();
    List.iter (fun a -> a.perform ()) others;
    Hand.settle ();
    Alcotest.(check string) "chosen" it.name (Hand.result task);
    let untouched a = yes (a.name ^ " is untouched") (a.untouched ()) in
    List.iter untouched others
  done

let cancelled () =
  let alternatives = all () in
  let task, _ = chosen alternatives 0 in
  yes "cancel" (Hand.cancel task);
  List.iter (fun a -> a.perform ()) alternatives;
  Hand.settle ();
  raises "select" Hand.Cancelled (fun () -> Hand.result task);
  let untouched a = yes (a.name ^ " is untouched") (a.untouched ()) in
  List.iter untouched alternatives

let polled () =
  let alternatives = all () in
  let event = Event.choose (List.map named alternatives) in
  yes "poll" (Event.poll event = None);
  let untouched a =
    int (a.name ^ " has no waiter") 0 (a.waiters ());
    a.perform ();
    yes (a.name ^ " is untouched") (a.untouched ())
  in
  List.iter untouched alternatives

let () =
  run "Event.select over all structures"
    [
      ( "choices",
        [
          test "each is performed, and no other" one_by_one;
          test "all become ready before the task runs" all_before_it_runs;
          test "all become ready after it was cancelled" cancelled;
          test "poll of what must wait" polled;
        ] );
    ]
