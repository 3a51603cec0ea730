(* Every operation that may wait, in monadic style. *)

open Concord
open Lwt.Syntax

(* A structure in which one task is to wait. *)
type t = {
  wait : unit -> bool Lwt.t;  (** It must wait; is its value right? *)
  direct : unit -> bool;  (** The same, in direct style. *)
  waiters : unit -> int;
  wake : unit -> unit;  (** Ends the wait, and waits for nobody itself. *)
  kept : unit -> bool;
      (** After [wake], if the waiter had gone: what it would have consumed is
          there. *)
}

let is v = Lwt.map (( = ) v)

let promise ~wait ~direct () =
  let p = Promise.create () in
  {
    wait = (fun () -> is 1 (wait p));
    direct = (fun () -> direct p = 1);
    waiters = (fun () -> Promise.waiters p);
    wake = (fun () -> Promise.fill p 1);
    kept = (fun () -> Promise.peek p = Some (Ok 1));
  }

let await = promise ~wait:Concord_lwt.Promise.await ~direct:Promise.await

(* --- Mvar ----------------------------------------------------------------- *)

let put () =
  let box = Mvar.create 0 in
  {
    wait = (fun () -> is () (Concord_lwt.Mvar.put box 1));
    direct = (fun () -> Mvar.put box 1 = ());
    waiters = (fun () -> Mvar.waiters box);
    wake = (fun () -> ignore (Mvar.take_available box : int option));
    kept = (fun () -> Mvar.is_empty box);
  }

(* The box has [left] if the waiter has gone. *)
let from_box ~wait ~direct () =
  let box = Mvar.create_empty () in
  {
    wait = (fun () -> is 1 (wait box));
    direct = (fun () -> direct box = 1);
    waiters = (fun () -> Mvar.waiters box);
    wake = (fun () -> ignore (Mvar.try_put box 1 : bool));
    kept = (fun () -> Mvar.take_available box = Some 1);
  }

let swap_two v = (2, v)

(* --- Lazy ----------------------------------------------------------------- *)

(* The computation waits. *)
let computing ~wait ~direct () =
  let p = Promise.create () in
  let t = Lazy.from_fun (fun () -> Promise.await p) in
  {
    wait = (fun () -> is 1 (wait t));
    direct = (fun () -> direct t = 1);
    waiters = (fun () -> Promise.waiters p);
    wake = (fun () -> Promise.fill p 1);
    kept = (fun () -> (not (Lazy.is_val t)) && Lazy.force t = 1);
  }

(* Another computes it, by hand. *)
let computed ~wait ~direct () =
  let p = Promise.create () in
  let t = Lazy.from_fun (fun () -> Promise.await p) in
  let other = Concord_test_support.Hand.start (fun () -> Lazy.force t) in
  {
    wait = (fun () -> is 1 (wait t));
    direct = (fun () -> direct t = 1);
    waiters = (fun () -> Lazy.waiters t);
    wake =
      (fun () ->
        Promise.fill p 1;
        Concord_test_support.Hand.settle ());
    kept =
      (fun () ->
        (not (Concord_test_support.Hand.waits other))
        && Lazy.peek t = Some (Ok 1));
  }

(* --- Queues --------------------------------------------------------------- *)

let send () =
  let c = Channel.create () in
  let got = ref None in
  {
    wait = (fun () -> is () (Concord_lwt.Channel.send c 1));
    direct = (fun () -> Channel.send c 1 = ());
    waiters = (fun () -> Channel.waiters c);
    wake = (fun () -> got := Channel.try_receive c);
    kept = (fun () -> !got = None);
  }

let receive () =
  let c = Channel.create () in
  let sent = ref true in
  {
    wait = (fun () -> is 1 (Concord_lwt.Channel.receive c));
    direct = (fun () -> Channel.receive c = 1);
    waiters = (fun () -> Channel.waiters c);
    wake = (fun () -> sent := Channel.try_send c 1);
    kept = (fun () -> not !sent);
  }

let add () =
  let s = Stream.create 1 in
  Stream.add s 0;
  {
    wait = (fun () -> is () (Concord_lwt.Stream.add s 1));
    direct = (fun () -> Stream.add s 1 = ());
    waiters = (fun () -> Stream.waiters s);
    wake = (fun () -> ignore (Stream.try_take s : int option));
    kept = (fun () -> Stream.is_empty s);
  }

let from_stream ~wait ~direct () =
  let s = Stream.create 1 in
  {
    wait = (fun () -> is 1 (wait s));
    direct = (fun () -> direct s = 1);
    waiters = (fun () -> Stream.waiters s);
    wake = (fun () -> Stream.add s 1);
    kept = (fun () -> Stream.try_take s = Some 1);
  }

let take_mail () =
  let m = Mailbox.create () in
  {
    wait = (fun () -> is 1 (Concord_lwt.Mailbox.take m));
    direct = (fun () -> Mailbox.take m = 1);
    waiters = (fun () -> Mailbox.waiters m);
    wake = (fun () -> Mailbox.put m 1);
    kept = (fun () -> Mailbox.try_take m = Some 1);
  }

let receive_all () =
  let all = Broadcast.create () in
  let s = Broadcast.subscribe all in
  {
    wait = (fun () -> is 1 (Concord_lwt.Broadcast.receive s));
    direct = (fun () -> Broadcast.receive s = 1);
    waiters = (fun () -> Broadcast.waiters s);
    wake = (fun () -> Broadcast.send all 1);
    kept = (fun () -> Broadcast.try_receive s = Some 1);
  }

(* --- Locks ---------------------------------------------------------------- *)

let lock ~wait ~direct () =
  let m = Mutex.create () in
  Mutex.lock m;
  {
    wait = (fun () -> is 1 (wait m));
    direct = (fun () -> direct m = 1);
    waiters = (fun () -> Mutex.waiters m);
    wake = (fun () -> Mutex.unlock m);
    kept = (fun () -> Mutex.try_lock m);
  }

let then_one f x = Lwt.map (fun () -> 1) (f x)

let then_1 f x =
  f x;
  1

let condition () =
  let m = Mutex.create () and c = Condition.create () in
  Mutex.lock m;
  {
    wait =
      (fun () ->
        let+ () = Concord_lwt.Condition.wait c m in
        Mutex.is_locked m);
    direct =
      (fun () ->
        Condition.wait c m;
        Mutex.is_locked m);
    waiters = (fun () -> Condition.waiters c);
    wake = (fun () -> Condition.signal c);
    kept = (fun () -> Mutex.is_locked m);
  }

let counting () =
  let open Semaphore in
  let s = Counting.make 0 in
  {
    wait = (fun () -> is () (Concord_lwt.Semaphore.Counting.acquire s));
    direct = (fun () -> Counting.acquire s = ());
    waiters = (fun () -> Counting.waiters s);
    wake = (fun () -> Counting.release s);
    kept = (fun () -> Counting.get_value s = 1);
  }

let binary () =
  let open Semaphore in
  let s = Binary.make false in
  {
    wait = (fun () -> is () (Concord_lwt.Semaphore.Binary.acquire s));
    direct = (fun () -> Binary.acquire s = ());
    waiters = (fun () -> Binary.waiters s);
    wake = (fun () -> Binary.release s);
    kept = (fun () -> Binary.try_acquire s);
  }

let rwlock ~wait ~direct () =
  let l = Rwlock.create () in
  Rwlock.write_lock l;
  {
    wait = (fun () -> is 1 (wait l));
    direct = (fun () -> direct l = 1);
    waiters = (fun () -> Rwlock.waiters l);
    wake = (fun () -> Rwlock.write_unlock l);
    kept = (fun () -> Rwlock.try_write_lock l);
  }

let barrier () =
  let b = Barrier.create 2 in
  let passed = ref false in
  {
    wait = (fun () -> is () (Concord_lwt.Barrier.await b));
    direct = (fun () -> Barrier.await b = ());
    waiters = (fun () -> Barrier.waiters b);
    wake = (fun () -> passed := Event.poll (Barrier.await_evt b) = Some ());
    kept = (fun () -> not !passed);
  }

let latch () =
  let l = Latch.create 1 in
  {
    wait = (fun () -> is () (Concord_lwt.Latch.await l));
    direct = (fun () -> Latch.await l = ());
    waiters = (fun () -> Latch.waiters l);
    wake = (fun () -> Latch.count_down l);
    kept = (fun () -> Latch.is_open l);
  }

(* --- Events --------------------------------------------------------------- *)

let wrapped s = Event.wrap (Stream.take_evt s) (fun v -> v)

let alternatives s =
  [ Event.never; wrapped s; Event.wrap (Event.timeout infinity) (fun () -> 0) ]

let before seconds s = Event.sync_before seconds (Stream.take_evt s)

let all =
  let open Concord_lwt in
  let one_lwt () = Lwt.return 1 and one () = 1 in
  [
    ("Promise.await", await);
    ("to_lwt", promise ~wait:to_lwt ~direct:Concord.Promise.await);
    ("Mvar.put", put);
    ("Mvar.take", from_box ~wait:Mvar.take ~direct:Concord.Mvar.take);
    ("Mvar.read", from_box ~wait:Mvar.read ~direct:Concord.Mvar.read);
    ( "Mvar.swap",
      from_box
        ~wait:(fun box -> Mvar.swap box 2)
        ~direct:(fun box -> Concord.Mvar.swap box 2) );
    ( "Mvar.modify",
      from_box
        ~wait:(fun box -> Mvar.modify box swap_two)
        ~direct:(fun box -> Concord.Mvar.modify box swap_two) );
    ("Lazy.force", computing ~wait:Lazy.force ~direct:Concord.Lazy.force);
    ( "Lazy.force_val",
      computing ~wait:Lazy.force_val ~direct:Concord.Lazy.force_val );
    ( "Lazy.force of another's",
      computed ~wait:Lazy.force ~direct:Concord.Lazy.force );
    ("Channel.send", send);
    ("Channel.receive", receive);
    ("Stream.add", add);
    ("Stream.take", from_stream ~wait:Stream.take ~direct:Concord.Stream.take);
    ("Mailbox.take", take_mail);
    ("Broadcast.receive", receive_all);
    ( "Mutex.lock",
      lock ~wait:(then_one Mutex.lock) ~direct:(then_1 Concord.Mutex.lock) );
    ( "Mutex.with_lock",
      lock
        ~wait:(fun m -> Mutex.with_lock m one_lwt)
        ~direct:(fun m -> Concord.Mutex.protect m one) );
    ( "Mutex.protect",
      lock
        ~wait:(fun m -> Mutex.protect m one_lwt)
        ~direct:(fun m -> Concord.Mutex.protect m one) );
    ("Condition.wait", condition);
    ("Semaphore.Counting.acquire", counting);
    ("Semaphore.Binary.acquire", binary);
    ( "Rwlock.read_lock",
      rwlock
        ~wait:(then_one Rwlock.read_lock)
        ~direct:(then_1 Concord.Rwlock.read_lock) );
    ( "Rwlock.write_lock",
      rwlock
        ~wait:(then_one Rwlock.write_lock)
        ~direct:(then_1 Concord.Rwlock.write_lock) );
    ( "Rwlock.read",
      rwlock
        ~wait:(fun l -> Rwlock.read l one_lwt)
        ~direct:(fun l -> Concord.Rwlock.read l one) );
    ( "Rwlock.write",
      rwlock
        ~wait:(fun l -> Rwlock.write l one_lwt)
        ~direct:(fun l -> Concord.Rwlock.write l one) );
    ("Barrier.await", barrier);
    ("Latch.await", latch);
    ( "sync",
      from_stream
        ~wait:(fun s -> sync (wrapped s))
        ~direct:(fun s -> Event.sync (wrapped s)) );
    ( "select",
      from_stream
        ~wait:(fun s -> select (alternatives s))
        ~direct:(fun s -> Event.select (alternatives s)) );
    ( "sync_before",
      from_stream
        ~wait:(fun s ->
          Lwt.map Option.get (sync_before 100. (Concord.Stream.take_evt s)))
        ~direct:(fun s -> Option.get (before 100. s)) );
    ( "direct",
      from_stream
        ~wait:(fun s -> direct (fun () -> Concord.Stream.take s))
        ~direct:Concord.Stream.take );
  ]
