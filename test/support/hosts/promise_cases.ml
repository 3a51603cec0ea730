(* What a library of promises must do with the operations in its own style. *)

open Concord
open Concord_test_support
open Check

module type LIBRARY = sig
  include Operations.Style

  val bind : 'a promise -> ('a -> 'b promise) -> 'b promise

  val peek : 'a promise -> 'a option
  (** The value, if the promise is fulfilled. *)

  val maps_at_once : bool
  (** Whether [map f p] has a value at once if [p] has one. *)

  val failure : (unit -> 'a promise) -> exn promise
  (** The exception with which the promise fails, or that the call raises. *)

  val pause : unit -> unit promise
  (** Lets other callbacks run. *)

  val sleep : float -> unit promise
  val post : (unit -> 'a promise) -> 'a Promise.t
  val run : (unit -> 'a promise) -> 'a

  val is_here : unit -> bool
  (** Whether the caller is in the thread of the library's callbacks. *)
end

module Make (L : LIBRARY) = struct
  module Each = Waits.Make (L)

  let ( let* ) = L.bind
  let ( let+ ) p f = L.map f p

  let rec iter f = function
    | [] -> L.return ()
    | x :: rest ->
        let* () = f x in
        iter f rest

  let turns n = iter (fun _ -> L.pause ()) (List.init n ignore)
  let waits p = Option.is_none (L.peek p)
  let test_run name f = test name (fun () -> L.run f)

  (* --- Who wakes ------------------------------------------------------------ *)

  let waking = Atomic.make false

  (* The promise is fulfilled when [wake] has ended. *)
  let by_job run_job wake =
    let woken = Promise.create () in
    run_job (fun () ->
        match wake () with
        | () -> Promise.fill woken ()
        | exception e -> Promise.fail woken e);
    L.Promise.await woken

  let by_callback wake =
    let+ () = L.pause () in
    Atomic.set waking true;
    wake ();
    Atomic.set waking false

  (* The code after the wait runs in the library's thread, and not inside the call of [wake]. *)
  let woken by (name, make) =
    let { Waits.wait; waiters; wake; passed; _ } = make () in
    int (name ^ ": no task waits") 0 (waiters ());
    let p = wait () in
    yes (name ^ ": it waits") (waits p);
    int (name ^ ": one waits") 1 (waiters ());
    let has_woken = by wake in
    let* ok = p in
    yes (name ^ ": in its thread") (L.is_here ());
    no (name ^ ": inside the wake") (Atomic.get waking);
    yes (name ^ ": its value") ok;
    let+ () = has_woken in
    int (name ^ ": no task waits") 0 (waiters ());
    yes (name ^ ": the value is nowhere else") (passed ())

  (* Each operation has its own turn, because in a long turn an operation doesn't begin at
     once. *)
  let each f =
    let in_its_turn case =
      let* () = L.pause () in
      f case
    in
    L.run (fun () -> iter in_its_turn (Each.all ()))

  let woken_by (name, start) =
    test ("woken by " ^ name) (fun () ->
        Waking.with_jobs start (fun run_job -> each (woken (by_job run_job))))

  let need_not_wait (name, make) =
    let { Waits.wait; wake; waiters; remembers; passed; _ } = make () in
    if not remembers then L.return ()
    else begin
      wake ();
      let p = wait () in
      int (name ^ ": no task waits") 0 (waiters ());
      if L.maps_at_once then no (name ^ ": at once") (waits p);
      let+ ok = p in
      yes (name ^ ": its value") ok;
      yes (name ^ ": the value is nowhere else") (passed ())
    end

  let waiting wakers =
    ( "each operation",
      test "woken by a callback" (fun () -> each (woken by_callback))
      :: test "need not wait" (fun () -> each need_not_wait)
      :: List.map woken_by (Waking.starts @ wakers) )

  (* --- Failures --------------------------------------------------------------- *)

  exception Boom

  (* The call itself must not raise. *)
  let fails what expected f =
    let has_returned = ref false in
    let call () =
      let p = f () in
      has_returned := true;
      p
    in
    let+ e = L.failure call in
    yes (what ^ ": the call returns") !has_returned;
    yes (Printf.sprintf "%s: %s" what (Printexc.to_string e)) (e = expected)

  let ignored p = L.map ignore p

  let closed () =
    let channel = Channel.create () and stream = Stream.create 1 in
    let full = Stream.create 1 in
    let mailbox = Mailbox.create () and all = Broadcast.create () in
    let s = Broadcast.subscribe all in
    Stream.add full 0;
    let operations =
      [
        (* It must be the first, because a sender and a receiver would meet. *)
        ("receive", fun () -> ignored (L.Channel.receive channel));
        ("send", fun () -> L.Channel.send channel 1);
        ("add", fun () -> L.Stream.add full 1);
        ("take", fun () -> ignored (L.Stream.take stream));
        ("take mail", fun () -> ignored (L.Mailbox.take mailbox));
        ("receive news", fun () -> ignored (L.Broadcast.receive s));
        ("sync", fun () -> ignored (L.sync (Stream.take_evt stream)));
        ( "select",
          fun () ->
            ignored
              (L.select [ Mailbox.take_evt mailbox; Stream.take_evt stream ]) );
      ]
    in
    let failing =
      List.map
        (fun (name, f) -> fails name Mailbox.Closed f)
        (List.tl operations)
    in
    List.iter (fun p -> yes "it waits" (waits p)) failing;
    let join =
      Check.domain (fun () ->
          Channel.close channel;
          Stream.close stream;
          Stream.close full;
          Mailbox.close mailbox;
          Broadcast.close all)
    in
    let* () = iter Fun.id failing in
    join ();
    iter
      (fun (name, f) -> fails (name ^ ", closed before") Mailbox.Closed f)
      operations

  let failed () =
    let p = Promise.create () and box = Mvar.create 1 in
    let t = Lazy.from_fun (fun () -> Promise.await p) in
    let awaits =
      [
        ("await", fun () -> L.Promise.await p);
        ("sync", fun () -> L.sync (Promise.await_evt p));
        ("direct", fun () -> L.direct (fun () -> Promise.await p));
        ("force", fun () -> L.Lazy.force t);
      ]
    in
    let failing = List.map (fun (name, f) -> fails name Boom f) awaits in
    let result = L.Promise.await_result p in
    Check.in_domain (fun () -> Promise.fail p Boom);
    let* () = iter Fun.id failing in
    let* result = result in
    yes "await_result" (result = Error Boom);
    let* result = L.Promise.await_result p in
    yes "await_result, later" (result = Error Boom);
    let boom _ = raise Boom in
    let* () =
      iter
        (fun (name, f) -> fails (name ^ ", at once") Boom f)
        (awaits
        @ [
            ("code", fun () -> L.direct boom);
            ("guard", fun () -> L.sync (Event.guard boom));
            ("wrap", fun () -> L.sync (Event.wrap (Event.always ()) boom));
            ("modify", fun () -> L.Mvar.modify box boom);
            ("lazy", fun () -> L.Lazy.force (Lazy.from_fun boom));
          ])
    in
    int "modify has changed nothing" 1 (Mvar.take box);
    fails "not a number"
      (Invalid_argument "Event.sync_before: the time is not a number (nan)")
      (fun () -> L.sync_before Float.nan (Mvar.take_evt box))

  let timeouts () =
    let box = Mvar.create_empty () in
    let take = Mvar.take_evt box in
    let* v = L.sync_before 0.001 take in
    yes "too late" (v = None);
    int "withdrawn" 0 (Mvar.waiters box);
    let* v = L.sync_before 0. take in
    yes "now or never" (v = None);
    let* () = L.sync (Event.timeout 0.001) in
    let+ v =
      L.select [ Event.wrap (Event.timeout 0.001) (fun () -> 0); take ]
    in
    int "the timeout" 0 v

  (* --- Functions in brackets --------------------------------------------------- *)

  let got p = L.map Option.get p

  (* [f name bracket is_free] for each operation that holds something while its function runs. *)
  let each_bracket f =
    let m = Mutex.create () and l = Rwlock.create () in
    let c = Semaphore.Counting.make 2 and b = Semaphore.Binary.make true in
    let pool = Pool.create 1 ignore in
    let is_free () =
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
    let open L.Semaphore in
    iter
      (fun (name, bracket) -> f name bracket is_free)
      [
        ("with_lock", L.Mutex.with_lock m);
        ("protect", L.Mutex.protect m);
        ("read", L.Rwlock.read l);
        ("write", L.Rwlock.write l);
        ( "write, downgraded",
          fun g ->
            L.Rwlock.write l (fun () ->
                Rwlock.downgrade l;
                g ()) );
        ("with_permit", Counting.with_permit c);
        ("with_permits", Counting.with_permits c 2);
        ("with_permit, binary", Binary.with_permit b);
        ("use", L.Pool.use pool);
        ("try_with_permit", fun g -> got (Counting.try_with_permit c g));
        ("try_with_permits", fun g -> got (Counting.try_with_permits c 2 g));
        ("try_with_permit, binary", fun g -> got (Binary.try_with_permit b g));
        ("try_use", fun g -> got (L.Pool.try_use pool g));
      ]

  let released () =
    each_bracket @@ fun name bracket is_free ->
    let gate = Promise.create () in
    let p = bracket (fun () -> L.Promise.await gate) in
    no (name ^ ": held") (is_free ());
    Promise.fill gate 1;
    let* v = p in
    int name 1 v;
    yes (name ^ ": released") (is_free ());
    let* () = fails name Boom (fun () -> bracket (fun () -> raise Boom)) in
    yes (name ^ ": released after an exception") (is_free ());
    let later () =
      let+ () = L.pause () in
      raise Boom
    in
    let+ () = fails name Boom (fun () -> bracket later) in
    yes (name ^ ": released after a failure") (is_free ())

  (* --- One by one ----------------------------------------------------------------- *)

  type flow = {
    name : string;
    send : int -> unit;  (** Called in another domain. *)
    close : unit -> unit;
    iter_s : (int -> unit L.promise) -> unit L.promise;
    fold_s : (int list -> int -> int list L.promise) -> int list L.promise;
  }

  let flows () =
    let m = Mailbox.create () and s = Stream.create 1 in
    let c = Channel.create () and b = Broadcast.create () in
    let w = Work_queue.create 1 and subscription = Broadcast.subscribe b in
    let flow name ~send ~close ~iter_s ~fold_s =
      { name; send; close; iter_s; fold_s = (fun f -> fold_s f []) }
    in
    [
      flow "Mailbox" ~send:(Mailbox.add m)
        ~close:(fun () -> Mailbox.close m)
        ~iter_s:(fun f -> L.Mailbox.iter_s f m)
        ~fold_s:(fun f all -> L.Mailbox.fold_s f all m);
      flow "Stream" ~send:(Stream.add s)
        ~close:(fun () -> Stream.close s)
        ~iter_s:(fun f -> L.Stream.iter_s f s)
        ~fold_s:(fun f all -> L.Stream.fold_s f all s);
      flow "Channel" ~send:(Channel.send c)
        ~close:(fun () -> Channel.close c)
        ~iter_s:(fun f -> L.Channel.iter_s f c)
        ~fold_s:(fun f all -> L.Channel.fold_s f all c);
      flow "Broadcast" ~send:(Broadcast.send b)
        ~close:(fun () -> Broadcast.close b)
        ~iter_s:(fun f -> L.Broadcast.iter_s f subscription)
        ~fold_s:(fun f all -> L.Broadcast.fold_s f all subscription);
      flow "Work_queue"
        ~send:(fun v -> ignore (Work_queue.add w v : int Work_queue.ticket))
        ~close:(fun () -> Work_queue.close w)
        ~iter_s:(fun f -> L.Work_queue.iter_s f w)
        ~fold_s:(fun f all -> L.Work_queue.fold_s f all w);
    ]

  (* The next item isn't taken before the function is done. *)
  let one_by_one () =
    flows ()
    |> iter @@ fun { name; send; close; fold_s; _ } ->
       let is_busy = ref false in
       let add all v =
         no (name ^ ": one at a time") !is_busy;
         is_busy := true;
         let+ () = turns 3 in
         is_busy := false;
         v :: all
       in
       let all = fold_s add in
       let join =
         Check.domain (fun () ->
             List.iter send [ 1; 2; 3; 4 ];
             close ())
       in
       let+ all = all in
       join ();
       yes (name ^ ": all, in order") (all = [ 4; 3; 2; 1 ])

  (* Even if the function fails with [Closed], this isn't the end of the items. *)
  let function_fails () =
    flows ()
    |> iter @@ fun { name; send; iter_s; _ } ->
       let seen = ref 0 in
       let see v =
         seen := v;
         if v = 2 then raise Mailbox.Closed else L.return ()
       in
       let failing = fails name Mailbox.Closed (fun () -> iter_s see) in
       let join = Check.domain (fun () -> List.iter send [ 1; 2 ]) in
       let+ () = failing in
       join ();
       int (name ^ ": the last one") 2 !seen

  let results =
    ( "results",
      [
        test_run "Closed" closed;
        test_run "failures" failed;
        test_run "timeouts" timeouts;
        test_run "released, however the function ends" released;
        test_run "one by one, to the end" one_by_one;
        test_run "a function that fails" function_fails;
      ] )
end
