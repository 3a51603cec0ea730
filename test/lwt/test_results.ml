(* Operations in monadic style: what they return, and how they fail. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax
open Support

let run = Concord_lwt.run

(* --- Failures ------------------------------------------------------------- *)

let closed () =
  run @@ fun () ->
  let open Concord_lwt in
  let channel = Channel.create () and stream = Stream.create 1 in
  let full = Stream.create 1 in
  let mailbox = Mailbox.create () and all = Broadcast.create () in
  let s = Broadcast.subscribe all in
  let* () = Stream.add full 0 in
  let operations =
    [
      ("send", fun () -> Channel.send channel 1);
      ("receive", fun () -> Lwt.map ignore (Channel.receive channel));
      ("add", fun () -> Stream.add full 1);
      ("take", fun () -> Lwt.map ignore (Stream.take stream));
      ("take mail", fun () -> Lwt.map ignore (Mailbox.take mailbox));
      ("receive news", fun () -> Lwt.map ignore (Broadcast.receive s));
      ("sync", fun () -> Lwt.map ignore (sync (Stream.take_evt stream)));
      ( "select",
        fun () ->
          Lwt.map ignore
            (select [ Mailbox.take_evt mailbox; Stream.take_evt stream ]) );
    ]
  in
  (* [receive] is left out, because a sender and a receiver would meet. *)
  let waiting =
    List.filter_map
      (fun (name, f) -> if name = "receive" then None else Some (name, f ()))
      operations
  in
  List.iter (fun (name, p) -> yes (name ^ " waits") (sleeps p)) waiting;
  let join =
    Check.domain (fun () ->
        Concord.Channel.close channel;
        Concord.Stream.close stream;
        Concord.Stream.close full;
        Concord.Mailbox.close mailbox;
        Concord.Broadcast.close all)
  in
  let* () =
    Lwt_list.iter_s
      (fun (name, p) -> fails name Mailbox.Closed (fun () -> p))
      waiting
  in
  join ();
  Lwt_list.iter_s
    (fun (name, f) -> fails (name ^ ", closed before") Mailbox.Closed f)
    operations

let failed () =
  run @@ fun () ->
  let open Concord_lwt in
  let p = Promise.create () in
  let waiting = Promise.await p and also = to_lwt p in
  let chosen = sync (Promise.await_evt p) and result = Promise.await_result p in
  Check.in_domain (fun () -> Concord.Promise.fail p Boom);
  let* () = fails "await" Boom (fun () -> waiting) in
  let* () = fails "to_lwt" Boom (fun () -> also) in
  let* () = fails "sync" Boom (fun () -> chosen) in
  let* () = fails "later" Boom (fun () -> Promise.await p) in
  let* result = result in
  Check.yes "await_result" (result = Error Boom);
  let* result = Promise.await_result p in
  Check.yes "await_result, later" (result = Error Boom);
  let* () = fails "direct" Boom (fun () -> direct (fun () -> raise Boom)) in
  let* () =
    fails "guard" Boom (fun () -> sync (Event.guard (fun () -> raise Boom)))
  in
  let* () =
    fails "wrap" Boom (fun () ->
        sync (Event.wrap (Event.always ()) (fun () -> raise Boom)))
  in
  let box = Mvar.create 1 in
  let* () =
    fails "modify" Boom (fun () -> Mvar.modify box (fun _ -> raise Boom))
  in
  let* v = Mvar.take box in
  int "modify has changed nothing" 1 v;
  fails "force" Boom (fun () ->
      Lazy.force (Lazy.from_fun (fun () -> raise Boom)))

let of_lwt () =
  run @@ fun () ->
  let open Concord_lwt in
  let one, wake_one = Lwt.wait () and other, wake_other = Lwt.wait () in
  let p = of_lwt one and q = of_lwt other in
  let got = Atomic.make (Ok 0) in
  let join =
    Check.domain (fun () ->
        assert (Concord.Promise.await p = 1);
        Atomic.set got
          (match Concord.Promise.await q with
          | v -> Ok v
          | exception e -> Error e))
  in
  Lwt.wakeup_later wake_one 1;
  Lwt.wakeup_later_exn wake_other Boom;
  let* () = fails "there and back" Boom (fun () -> to_lwt q) in
  join ();
  yes "the failure is there" (Atomic.get got = Error Boom);
  (* The test may fill the promise itself before Lwt does. *)
  let third, wake_third = Lwt.wait () in
  let r = Concord_lwt.of_lwt third in
  Promise.fill r 3;
  Lwt.wakeup wake_third 4;
  let+ v = to_lwt r in
  int "the first value" 3 v

(* --- Locks ---------------------------------------------------------------- *)

let with_locks f =
  let m = Mutex.create () and l = Rwlock.create () in
  let c = Semaphore.Counting.make 2 and b = Semaphore.Binary.make true in
  let pool = Pool.create 1 ignore in
  let free () =
    (not (Mutex.is_locked m))
    && Semaphore.Counting.get_value c = 2
    && Pool.in_use pool = 0
    && Semaphore.Binary.try_acquire b
    && begin
      Semaphore.Binary.release b;
      true
    end
    && Rwlock.try_write_lock l
    && begin
      Rwlock.write_unlock l;
      true
    end
  in
  let each (name, lock) = f name lock free in
  Lwt_list.iter_s each
    [
      ("with_lock", fun g -> Concord_lwt.Mutex.with_lock m g);
      ("protect", fun g -> Concord_lwt.Mutex.protect m g);
      ("read", fun g -> Concord_lwt.Rwlock.read l g);
      ("write", fun g -> Concord_lwt.Rwlock.write l g);
      ( "write, downgraded",
        fun g ->
          Concord_lwt.Rwlock.write l (fun () ->
              Rwlock.downgrade l;
              g ()) );
      ( "try_with_permit",
        fun g ->
          Lwt.map Option.get
            (Concord_lwt.Semaphore.Counting.try_with_permit c g) );
      ( "try_with_permits",
        fun g ->
          Lwt.map Option.get
            (Concord_lwt.Semaphore.Counting.try_with_permits c 2 g) );
      ( "try_with_permit, binary",
        fun g ->
          Lwt.map Option.get (Concord_lwt.Semaphore.Binary.try_with_permit b g)
      );
      ("try_use", fun g -> Lwt.map Option.get (Concord_lwt.Pool.try_use pool g));
    ]

let released () =
  run @@ fun () ->
  with_locks @@ fun name lock free ->
  let gate, open_gate = Lwt.wait () in
  let p = lock (fun () -> gate) in
  no (name ^ ": held") (free ());
  Lwt.wakeup open_gate 1;
  let* v = p in
  int name 1 v;
  yes (name ^ ": released") (free ());
  let* () = fails name Boom (fun () -> lock (fun () -> Lwt.fail Boom)) in
  yes (name ^ ": released after a failure") (free ());
  let* () = fails name Boom (fun () -> lock (fun () -> raise Boom)) in
  yes (name ^ ": released after an exception") (free ());
  let p = lock (fun () -> fst (Lwt.task ())) in
  no (name ^ ": held") (free ());
  Lwt.cancel p;
  let+ () = fails name Lwt.Canceled (fun () -> p) in
  yes (name ^ ": released after Lwt.cancel") (free ())

(* The functions may wait, and exclude each other even then. *)
let exclusion () =
  let m = Mutex.create () and inside = ref 0 and most = ref 0 in
  run (fun () ->
      Lwt.join
        (List.init 20 (fun _ ->
             Concord_lwt.Mutex.with_lock m @@ fun () ->
             incr inside;
             most := Int.max !most !inside;
             let+ () = Lwt.pause () in
             decr inside)));
  int "at once" 1 !most

(* --- Choices and time ----------------------------------------------------- *)

let timeouts () =
  run @@ fun () ->
  let box = Mvar.create_empty () in
  let take = Mvar.take_evt box in
  let* v = Concord_lwt.sync_before 0.001 take in
  yes "too late" (v = None);
  int "withdrawn" 0 (Mvar.waiters box);
  let* v = Concord_lwt.sync_before 0. take in
  yes "now or never" (v = None);
  let* () = Concord_lwt.sync (Event.timeout 0.001) in
  let* v =
    Concord_lwt.select [ Event.wrap (Event.timeout 0.001) (fun () -> 0); take ]
  in
  int "the timeout" 0 v;
  let p = Concord_lwt.sync_before 100. take in
  Mvar.put box 5;
  let* v = p in
  yes "in time" (v = Some 5);
  fails "not a number"
    (Invalid_argument "Event.sync_before: the time is not a number (nan)")
    (fun () -> Concord_lwt.sync_before Float.nan take)

(* Two tasks each wait for one value in two ways. Exactly one of them gets it. *)
let one_alternative () =
  run @@ fun () ->
  let c = Channel.create () and d = Channel.create () in
  let n = 200 in
  let got = ref 0 in
  let choose () =
    let+ v =
      Concord_lwt.select [ Channel.receive_evt c; Channel.receive_evt d ]
    in
    got := !got + v
  in
  let all = List.init n (fun _ -> choose ()) in
  let join =
    Check.domain (fun () ->
        Concord_fifo.run (fun () ->
            for _ = 1 to n do
              Event.select [ Channel.send_evt c 1; Channel.send_evt d 1 ]
            done))
  in
  let+ () = Lwt.join all in
  join ();
  int "each has one" n !got;
  int "no task waits" 0 (Channel.waiters c + Channel.waiters d)

let () =
  Check.run "Concord_lwt, results"
    [
      ( "failures",
        [
          test "Closed" closed;
          test "others" failed;
          test "of_lwt and to_lwt" of_lwt;
        ] );
      ( "locks",
        [
          test "are released however the function ends" released;
          test "exclude" exclusion;
        ] );
      ( "choices",
        [
          test "timeouts" timeouts;
          test "exactly one alternative" one_alternative;
        ] );
    ]
