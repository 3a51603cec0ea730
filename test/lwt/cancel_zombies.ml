(* A cancelled task is over. It takes no signal, no lock and no item afterwards. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax
open Support

let run = Concord_lwt.run

(* A queue made in the usual way. *)
type queue = { mutex : Mutex.t; filled : Condition.t; items : int Queue.t }

let queue () =
  {
    mutex = Mutex.create ();
    filled = Condition.create ();
    items = Queue.create ();
  }

let add q v =
  Mutex.protect q.mutex (fun () ->
      Queue.push v q.items;
      Condition.signal q.filled)

let take q =
  Concord_lwt.Mutex.with_lock q.mutex @@ fun () ->
  let rec wait () =
    match Queue.take_opt q.items with
    | Some v -> Lwt.return v
    | None ->
        let* () = Concord_lwt.Condition.wait q.filled q.mutex in
        wait ()
  in
  wait ()

(* The task was signalled, and is cancelled while it waits for the mutex. The next task gets
   the signal, and the cancelled one doesn't take the item. *)
let signalled () =
  run @@ fun () ->
  let q = queue () in
  let first = take q in
  let second = take q in
  int "both wait" 2 (Condition.waiters q.filled);
  let* () = Concord_lwt.Mutex.lock q.mutex in
  Queue.push 1 q.items;
  Condition.signal q.filled;
  let* () = turns 3 in
  int "it was signalled, and waits for the mutex" 1 (Mutex.waiters q.mutex);
  Lwt.cancel first;
  Lwt.cancel first;
  yes "it must have the mutex" (Lwt.state first = Lwt.Sleep);
  Mutex.unlock q.mutex;
  let* v = second in
  int "the item" 1 v;
  yes "cancelled" (is_cancelled first);
  int "no task waits" 0 (Condition.waiters q.filled + Mutex.waiters q.mutex);
  no "unlocked" (Mutex.is_locked q.mutex);
  Lwt.return_unit

(* The same, but the task is cancelled before the loop has seen the signal. *)
let signalled_just_now () =
  run @@ fun () ->
  let q = queue () in
  let first = take q in
  let second = take q in
  (* There is no item yet, so the task would wait again. *)
  Condition.signal q.filled;
  Lwt.cancel first;
  yes "cancelled" (is_cancelled first);
  add q 1;
  let* v = second in
  int "the item" 1 v;
  no "unlocked" (Mutex.is_locked q.mutex);
  Lwt.return_unit

(* No other task waits, so the signal has no effect. *)
let signalled_alone () =
  run @@ fun () ->
  let q = queue () in
  let first = take q in
  Condition.broadcast q.filled;
  Lwt.cancel first;
  yes "cancelled" (is_cancelled first);
  let second = take q in
  let* () = turns 3 in
  yes "no signal is left" (Lwt.state second = Lwt.Sleep);
  add q 1;
  let+ v = second in
  int "the item" 1 v

(* The task has been given the lock when it is cancelled, so it gives that back. *)
let locked_just_now () =
  run @@ fun () ->
  let box = Mvar.create_empty () in
  let each (name, lock, try_lock, unlock) =
    yes (name ^ ": locked") (try_lock ());
    let called = ref false in
    let p =
      lock (fun () ->
          called := true;
          Concord_lwt.Mvar.take box)
    in
    unlock ();
    Lwt.cancel p;
    no (name ^ ": called") !called;
    yes (name ^ ": cancelled") (is_cancelled p);
    int (name ^ ": it does not wait") 0 (Mvar.waiters box);
    yes (name ^ ": unlocked") (try_lock ())
  in
  let m = Mutex.create () and l = Rwlock.create () in
  each
    ( "with_lock",
      Concord_lwt.Mutex.with_lock m,
      (fun () -> Mutex.try_lock m),
      fun () -> Mutex.unlock m );
  each
    ( "write",
      Concord_lwt.Rwlock.write l,
      (fun () -> Rwlock.try_write_lock l),
      fun () -> Rwlock.write_unlock l );
  Rwlock.write_unlock l;
  Lwt.return_unit

(* Takers are cancelled at any moment, but each item that a domain adds is taken once. A
   cancelled taker has its item at once, or never. *)
let never_a_zombie () =
  let n = 2_000 in
  let q = queue () in
  let taken = Array.make n 0 and left = ref n in
  let cancelled = ref 0 and zombies = ref 0 in
  let random = Random.State.make [| 5 |] in
  (* The domain keeps the mutex after the signal. Now and then it lets a taker wait first. *)
  let add v =
    if v mod 20 = 0 then
      eventually "a taker waits" (fun () -> Condition.waiters q.filled > 0);
    Mutex.protect q.mutex (fun () ->
        Queue.push v q.items;
        Condition.signal q.filled;
        Concord_fifo.yield ())
  in
  let join =
    Check.domain (fun () ->
        Concord_fifo.run (fun () -> Seq.iter add (Seq.take n (Seq.ints 0))))
  in
  let got v =
    taken.(v) <- taken.(v) + 1;
    decr left
  in
  let rec end_of p ~cancel =
    match Lwt.state p with
    | Return v ->
        if cancel then incr zombies;
        got v;
        Lwt.return_unit
    | Fail Lwt.Canceled ->
        incr cancelled;
        Lwt.return_unit
    | Fail e -> Lwt.fail e
    | Sleep ->
        let cancel_now =
          (not cancel) && (!left = 0 || Random.State.int random 8 = 0)
        in
        if cancel_now then Lwt.cancel p;
        (* A value that exists at once was not taken after the cancellation. *)
        if cancel_now && not (Lwt.is_sleeping p) then end_of p ~cancel:false
        else
          let* () = Lwt.pause () in
          end_of p ~cancel:(cancel || cancel_now)
  in
  let rec taker () =
    if !left = 0 then Lwt.return_unit
    else
      let* () = end_of (take q) ~cancel:false in
      taker ()
  in
  run (fun () -> Lwt.join (List.init 8 (fun _ -> taker ())));
  join ();
  int "zombies" 0 !zombies;
  Array.iteri (fun v times -> int (Printf.sprintf "item %d" v) 1 times) taken;
  yes "some were cancelled" (!cancelled > 0)
