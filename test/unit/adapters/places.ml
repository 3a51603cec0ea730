(* Everything at which one can wait. *)

open Concord
open Concord_test_support.Check

type place = {
  name : string;
  wait : unit -> unit;
  wake : unit -> unit;  (** Serves one of those who wait. *)
  waiters : unit -> int;
}

let locks () =
  let mutex = Mutex.create () and rwlock = Rwlock.create () in
  Mutex.lock mutex;
  Rwlock.write_lock rwlock;
  [
    {
      name = "Mutex.lock";
      wait = (fun () -> Mutex.lock mutex);
      wake = (fun () -> Mutex.unlock mutex);
      waiters = (fun () -> Mutex.waiters mutex);
    };
    {
      name = "Rwlock.write_lock";
      wait = (fun () -> Rwlock.write_lock rwlock);
      wake = (fun () -> Rwlock.write_unlock rwlock);
      waiters = (fun () -> Rwlock.waiters rwlock);
    };
    (let t = Semaphore.Counting.make 0 in
     {
       name = "Semaphore.Counting.acquire";
       wait = (fun () -> Semaphore.Counting.acquire t);
       wake = (fun () -> Semaphore.Counting.release t);
       waiters = (fun () -> Semaphore.Counting.waiters t);
     });
    (let t = Semaphore.Binary.make false in
     {
       name = "Semaphore.Binary.acquire";
       wait = (fun () -> Semaphore.Binary.acquire t);
       wake = (fun () -> Semaphore.Binary.release t);
       waiters = (fun () -> Semaphore.Binary.waiters t);
     });
    (let t = Condition.create () and mutex = Mutex.create () in
     {
       name = "Condition.wait";
       wait = (fun () -> Mutex.protect mutex (fun () -> Condition.wait t mutex));
       wake = (fun () -> Condition.signal t);
       waiters = (fun () -> Condition.waiters t);
     });
  ]

let take name ~wait ~wake ~waiters =
  {
    name;
    wait = (fun () -> int name 7 (wait ()));
    wake = (fun () -> wake 7);
    waiters;
  }

let give name ~wait ~wake ~waiters =
  {
    name;
    wait = (fun () -> wait 7);
    wake = (fun () -> yes name (wake () <> None));
    waiters;
  }

let queues () =
  let sent = Channel.create () and received = Channel.create () in
  let empty = Stream.create 1 and full = Stream.create 1 in
  let mailbox = Mailbox.create () and broadcast = Broadcast.create () in
  let subscription = Broadcast.subscribe broadcast in
  let one = Stream.create 1 and other = Mvar.create_empty () in
  Stream.add full 7;
  [
    take "Channel.receive"
      ~wait:(fun () -> Channel.receive received)
      ~wake:(fun v -> yes "received" (Channel.try_send received v))
      ~waiters:(fun () -> Channel.waiters received);
    give "Channel.send" ~wait:(Channel.send sent)
      ~wake:(fun () -> Channel.try_receive sent)
      ~waiters:(fun () -> Channel.waiters sent);
    take "Stream.take"
      ~wait:(fun () -> Stream.take empty)
      ~wake:(Stream.add empty)
      ~waiters:(fun () -> Stream.waiters empty);
    give "Stream.add" ~wait:(Stream.add full)
      ~wake:(fun () -> Stream.try_take full)
      ~waiters:(fun () -> Stream.waiters full);
    take "Mailbox.take"
      ~wait:(fun () -> Mailbox.take mailbox)
      ~wake:(Mailbox.put mailbox)
      ~waiters:(fun () -> Mailbox.waiters mailbox);
    take "Broadcast.receive"
      ~wait:(fun () -> Broadcast.receive subscription)
      ~wake:(Broadcast.send broadcast)
      ~waiters:(fun () -> Broadcast.waiters subscription);
    take "Event.select"
      ~wait:(fun () ->
        Event.select [ Mvar.take_evt other; Stream.take_evt one ])
      ~wake:(Stream.add one)
      ~waiters:(fun () -> Stream.waiters one);
  ]

let places () = locks () @ queues ()
