(* Direct style in a callback of a library of promises, which can't wait. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

module type REFUSAL = sig
  val cannot_wait : exn

  val modul : string
  (** The module whose operations a callback should use. *)
end

module Make (L : Promise_cases.LIBRARY) (Refusal : REFUSAL) = struct
  module Cases = Promise_cases.Make (L)

  let ( let* ) = L.bind
  let ( let+ ) p f = L.map f p
  let refused what f = raises what Refusal.cannot_wait f

  (* Waiting is refused, and leaves nothing behind. *)
  let cannot_wait what =
    let box : unit Mvar.t = Mvar.create_empty () in
    refused what (fun () -> Mvar.take box);
    refused (what ^ ": select") (fun () ->
        Event.select [ Mvar.take_evt box; Event.timeout 100. ]);
    int (what ^ ": no task waits") 0 (Mvar.waiters box);
    Mvar.put box ();
    Mvar.take box;
    no (what ^ ": it is not cancelled") (Suspend.is_cancelled ());
    int (what ^ ": protect") 1 (Suspend.protect (fun () -> 1))

  let in_a_callback f () =
    L.run (fun () ->
        let* () = L.pause () in
        f ())

  let each_operation () =
    Waits.direct ()
    |> Cases.iter @@ fun (name, make) ->
       let { Waits.wait; waiters; wake; kept; _ } = make () in
       let+ () = L.pause () in
       refused name wait;
       int (name ^ ": withdrawn") 0 (waiters ());
       wake ();
       yes (name ^ ": nothing is lost") (kept ())

  (* The operation is resumed before its host refuses to wait, so it has its value. *)
  let resumed_before () =
    let enlist () { Structure_kit.resumer; _ } =
      yes "resumed" (resumer (Ok 5));
      true
    in
    let how =
      Structure_kit.By_hand
        {
          attempt = (fun () () -> None);
          enlist;
          withdraw = (fun () _ -> Alcotest.fail "withdrawn");
        }
    in
    int "its value" 5 Structure_kit.(wait { default with how } () ());
    L.return ()

  (* Another domain fills the boxes at the same time. Each operation is refused, or gets its
     value. *)
  let race () =
    let refusals = ref 0 and n = 1_000 in
    let boxes = Array.init n (fun _ -> Mvar.create_empty ()) in
    let join =
      Check.domain (fun () -> Array.iter (fun b -> Mvar.put b ()) boxes)
    in
    Array.iter
      (fun box ->
        match Mvar.take box with
        | () -> ()
        | exception e when e = Refusal.cannot_wait -> incr refusals)
      boxes;
    join ();
    let left =
      Array.fold_left
        (fun n box ->
          int "no task waits" 0 (Mvar.waiters box);
          if Mvar.is_empty box then n else n + 1)
        0 boxes
    in
    int "what was refused is there" !refusals left;
    L.return ()

  (* --- The message ------------------------------------------------------------ *)

  (* It says what to use instead. *)
  let message () =
    let says name wait =
      refused name wait;
      let text = Printexc.to_string Refusal.cannot_wait in
      yes
        (name ^ ": " ^ text)
        (contains text (Printf.sprintf "Use %s.%s instead" Refusal.modul name))
    in
    let full = Stream.create 1 and mutex = Mutex.create () in
    Stream.add full ();
    Mutex.lock mutex;
    let rwlock = Rwlock.create () in
    Rwlock.write_lock rwlock;
    let used = Pool.create 1 ignore in
    let _lease = Pool.obtain used in
    says "Mvar.take" (fun () -> Mvar.take (Mvar.create_empty ()));
    says "Mvar.read" (fun () -> Mvar.read (Mvar.create_empty ()));
    says "Mvar.put" (fun () -> Mvar.put (Mvar.create "a") "b");
    says "Mvar.put" (fun () -> Mvar.put (Mvar.create 1) 2);
    says "Promise.await" (fun () -> Promise.await (Promise.create ()));
    says "Channel.send" (fun () -> Channel.send (Channel.create ()) "a");
    says "Channel.receive" (fun () -> Channel.receive (Channel.create ()));
    says "Stream.add" (fun () -> Stream.add full ());
    says "Stream.take" (fun () -> Stream.take (Stream.create 1));
    says "Mailbox.take" (fun () -> Mailbox.take (Mailbox.create ()));
    says "Broadcast.send" (fun () ->
        let news = Broadcast.create ~limit:(Wait 1) () in
        let _subscription = Broadcast.subscribe news in
        ignore (Broadcast.try_send news 1 : bool);
        Broadcast.send news 2);
    says "Broadcast.receive" (fun () ->
        Broadcast.(receive (subscribe (create ()))));
    says "Mutex.lock" (fun () -> Mutex.lock mutex);
    says "Condition.wait" (fun () ->
        let mutex = Mutex.create () in
        Mutex.protect mutex (fun () ->
            Condition.wait (Condition.create ()) mutex));
    says "Condition.wait_no_mutex" (fun () ->
        Condition.wait_no_mutex (Condition.create ()));
    says "Condition.loop_no_mutex" (fun () ->
        Condition.loop_no_mutex (Condition.create ()) (fun () -> None));
    says "Barrier.await" (fun () -> Barrier.await (Barrier.create 2));
    says "Rwlock.read_lock" (fun () -> Rwlock.read_lock rwlock);
    says "Rwlock.write_lock" (fun () -> Rwlock.write_lock rwlock);
    says "Bvar.wait" (fun () -> Bvar.wait (Bvar.create ()));
    says "Latch.await" (fun () -> Latch.await (Latch.create 1));
    says "Work_queue.take" (fun () -> Work_queue.take (Work_queue.create 1));
    says "Work_queue.add" (fun () ->
        let jobs = Work_queue.create 1 in
        List.iter
          (fun v -> ignore (Work_queue.add jobs v : int Work_queue.ticket))
          [ 1; 2 ]);
    says "Pool.use" (fun () -> Pool.use used ignore);
    says "Pool.obtain" (fun () -> Pool.value (Pool.obtain used));
    says "Pool.await_closed" (fun () -> Pool.await_closed used);
    says "Semaphore.Counting.acquire" (fun () ->
        Semaphore.Counting.(acquire (make 0)));
    says "Semaphore.Binary.acquire" (fun () ->
        Semaphore.Binary.(acquire (make false)));
    says "Promise.await" (fun () ->
        Lazy.force (Lazy.from_fun (fun () -> Promise.await (Promise.create ()))));
    says "Lazy.force" (fun () ->
        let t = Lazy.from_fun (fun () -> Promise.await (Promise.create ())) in
        let force () = Lazy.force t in
        ignore (L.direct force : unit L.promise);
        force ());
    says "select" (fun () ->
        Event.select [ Mvar.take_evt (Mvar.create_empty ()); Event.timeout 9. ]);
    says "sync with its event" (fun () -> Event.sync (Event.timeout 9.));
    (* An operation of the program, without a name that could be said. *)
    refused "without a name" (fun () ->
        Tools.Structure_kit.(wait default () ()));
    no "without advice"
      (contains (Printexc.to_string Refusal.cannot_wait) "refused last");
    L.return ()

  (* --- Lazy values that are forced in a plain callback ----------------------- *)

  exception Wrapped of exn

  (* The computation would have to wait there. So it hasn't failed, whatever it raises, and the
     next task to force the value runs it again. *)
  let lazy_refused () =
    let each (name, from_fun) =
      let p = Promise.create () and runs = ref 0 in
      let t =
        from_fun (fun () ->
            incr runs;
            Promise.await p)
      in
      (match Lazy.force t with
      | (_ : int) -> Alcotest.fail (name ^ ": it has a value")
      | exception _ -> ());
      yes (name ^ ": it has not failed") (Lazy.peek t = None);
      int (name ^ ": no task waits") 0 (Promise.waiters p);
      let forced = L.Lazy.force t in
      int (name ^ ": the next one waits") 1 (Promise.waiters p);
      Promise.fill p 5;
      let+ v = forced in
      int (name ^ ": the value") 5 v;
      int (name ^ ": runs") 2 !runs;
      int (name ^ ": for all") 5 (Lazy.force t)
    in
    let wrapping f () = try f () with e -> raise (Wrapped e) in
    let cleaning f () =
      Fun.protect f ~finally:(fun () -> Mvar.take (Mvar.create_empty ()))
    in
    let in_another f = Lazy.map Fun.id (Lazy.from_fun f) in
    let* () =
      Cases.iter each
        [
          ("restart", fun f -> Lazy.from_fun f);
          ("record", fun f -> Lazy.from_fun ~cancel:`Record f);
          ("protect", fun f -> Lazy.from_fun ~cancel:`Protect f);
          ("wraps the exception", fun f -> Lazy.from_fun (wrapping f));
          ("in another one", in_another);
        ]
    in
    let p = Promise.create () in
    let t = Lazy.from_fun (cleaning (fun () -> Promise.await p)) in
    (match Lazy.force t with
    | () -> Alcotest.fail "it has a value"
    | exception Fun.Finally_raised e when e = Refusal.cannot_wait -> ());
    yes "it has not failed" (Lazy.peek t = None);
    L.return ()

  (* A task that waits for the value meanwhile continues the computation, in its own domain. *)
  let lazy_passed_on () =
    let p = Promise.create () and runs = Atomic.make 0 in
    let this = ref (Lazy.from_val 0) in
    let t =
      Lazy.from_fun (fun () ->
          if Atomic.fetch_and_add runs 1 = 0 then
            eventually "the domain waits" (fun () -> Lazy.waiters !this = 1);
          Promise.await p)
    in
    this := t;
    let join =
      Check.domain (fun () ->
          eventually "it computes" (fun () -> Atomic.get runs = 1);
          int "the value" 7 (Lazy.force t))
    in
    refused "force" (fun () -> Lazy.force t);
    Promise.fill p 7;
    join ();
    int "for all" 7 (Lazy.force t);
    int "runs" 2 (Atomic.get runs);
    L.return ()

  (* A computation that fails without having to wait has failed for all tasks. *)
  let lazy_failed () =
    let runs = ref 0 in
    let t =
      Lazy.from_fun (fun () ->
          incr runs;
          raise Exit)
    in
    raises "here" Exit (fun () -> Lazy.force t);
    raises "here again" Exit (fun () -> Lazy.force t);
    raises "there" Exit (fun () -> in_domain (fun () -> Lazy.force t));
    int "runs" 1 !runs;
    no "a callback is not cancelled" (Suspend.is_cancelled ());
    (* Refused here before, the computation fails later where it can wait. *)
    let p = Promise.create () in
    let u = Lazy.from_fun (fun () -> Promise.await p) in
    refused "force" (fun () -> Lazy.force u);
    Promise.fail p Exit;
    raises "failed" Exit (fun () -> Lazy.force u);
    yes "for good" (Lazy.peek u = Some (Error Exit));
    L.return ()

  (* --- All cases ---------------------------------------------------------------- *)

  let all =
    let test name f = test name (in_a_callback f) in
    [
      test "each operation raises, and leaves nothing" each_operation;
      test "resumed before it is refused" resumed_before;
      test "against resuming, from another domain" race;
      test "the message says what to use instead" message;
      test "a lazy value that had to wait has not failed" lazy_refused;
      test "and is passed on" lazy_passed_on;
      test "one that failed has" lazy_failed;
    ]
end
