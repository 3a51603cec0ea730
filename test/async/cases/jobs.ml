(* The rules while code of Async runs. Nothing freezes it or changes its context. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open In_async
module Scheduler = Async.Scheduler
module Monitor = Async.Monitor

(* --- Direct style where nothing can be suspended --------------------------- *)

let refused what =
  let m : unit Mvar.t = Mvar.create_empty () in
  raises what A.In_job (fun () -> Mvar.take m);
  raises (what ^ ": select") A.In_job (fun () ->
      Event.select [ Mvar.take_evt m; Event.timeout 100. ]);
  int (what ^ ": no task waits") 0 (Mvar.waiters m);
  (* Operations that don't have to wait are performed. *)
  Mvar.put m ();
  Mvar.take m;
  no (what ^ ": it is not cancelled") (Suspend.is_cancelled ());
  int (what ^ ": protect") 1 (Suspend.protect (fun () -> 1))

(* The message says what to use instead. *)
let message () =
  let says name wait =
    raises name A.In_job wait;
    let text = Printexc.to_string A.In_job in
    yes
      (name ^ ": " ^ text)
      (contains text ("Use Concord_async." ^ name ^ " instead"))
  in
  async @@ fun () ->
  let* () = Scheduler.yield () in
  let mutex = Mutex.create () in
  Mutex.lock mutex;
  says "Mvar.take" (fun () -> Mvar.take (Mvar.create_empty ()));
  says "Mvar.put" (fun () -> Mvar.put (Mvar.create 1) 2);
  says "Promise.await" (fun () -> Promise.await (Promise.create ()));
  says "Mutex.lock" (fun () -> Mutex.lock mutex);
  says "select" (fun () ->
      Event.select [ Mvar.take_evt (Mvar.create_empty ()); Event.timeout 9. ]);
  Deferred.return ()

(* This job wasn't started by [Concord_async.go]. *)
let in_a_job () =
  async @@ fun () ->
  let* () = Scheduler.yield () in
  refused "a job";
  Deferred.return ()

(* This thread holds Async's lock, but isn't the scheduler's thread. *)
let in_run_in_async () =
  async @@ fun () ->
  Async.In_thread.run (fun () ->
      Async.Thread_safe.run_in_async_exn (fun () -> refused "run_in_async"))

(* A thread that doesn't hold the lock waits like any other thread, even if it has held the
   lock before. *)
let in_a_thread () =
  async @@ fun () ->
  let m = Mvar.create_empty () in
  let taken =
    Async.In_thread.run (fun () ->
        let first = Mvar.take m in
        Async.Thread_safe.run_in_async_exn (fun () -> refused "run_in_async");
        first + Mvar.take m)
  in
  let* () = A.Mvar.put m 1 in
  let* () = A.Mvar.put m 2 in
  let* sum = taken in
  int "the sum" 3 sum;
  Deferred.return ()

(* The initial thread, between two uses of Async. *)
let between () =
  let m = Mvar.create_empty () in
  let join = Check.domain (fun () -> Mvar.put m 3) in
  int "the value" 3 (Mvar.take m);
  join ()

(* The host of a fiber is Eio, even if Eio's loop runs in a job. *)
let eio_in_a_job () =
  async @@ fun () ->
  let m = Mvar.create_empty () in
  Eio_main.run (fun _ ->
      Eio.Fiber.both
        (fun () -> int "the value" 1 (Mvar.take m))
        (fun () -> Mvar.put m 1));
  refused "after it";
  Deferred.return ()

(* The computation has not failed. *)
let lazy_refused () =
  let each run =
    let p = Promise.create () and runs = ref 0 in
    let t =
      Lazy.from_fun (fun () ->
          incr runs;
          Promise.await p)
    in
    let* () =
      run (fun () -> raises "refused" A.In_job (fun () -> Lazy.force t))
    in
    yes "it has not failed" (Lazy.peek t = None);
    let forced = A.Lazy.force t in
    Promise.fill p 5;
    let* v = forced in
    int "the value" 5 v;
    int "runs" 2 !runs;
    Deferred.return ()
  in
  async @@ fun () ->
  let* () =
    each (fun f ->
        f ();
        Deferred.return ())
  in
  let* () =
    each (fun f ->
        Async.In_thread.run (fun () -> Async.Thread_safe.run_in_async_exn f))
  in
  let failing = Lazy.from_fun (fun () -> raise Exit) in
  raises "failed" Exit (fun () -> Lazy.force failing);
  yes "for good" (Lazy.peek failing = Some (Error Exit));
  Deferred.return ()

(* --- Execution context ----------------------------------------------------- *)

let key = Core.Univ_map.Key.create ~name:"jobs" Core.Int.sexp_of_t

let look () =
  let context = Scheduler.current_execution_context () in
  ( Async_kernel.Execution_context.monitor context,
    Async_kernel.Execution_context.priority context,
    Scheduler.find_local key )

let same what (monitor, priority, local) (monitor', priority', local') =
  yes (what ^ ": monitor") (monitor == monitor');
  yes (what ^ ": priority") (priority = priority');
  yes (what ^ ": local") (local = local')

(* [direct] is suspended in the middle of [within]. Its caller's context doesn't change. The
   context of the code is restored when it leaves [within]. *)
let context_of_direct () =
  async @@ fun () ->
  let before = look () in
  let m = Mvar.create_empty () in
  let monitor = Monitor.create () in
  let inside () =
    Option.get
      (Scheduler.within_v ~monitor ~priority:Async_kernel.Priority.low
         (fun () ->
           Scheduler.with_local key (Some 1) ~f:(fun () ->
               let inside = look () in
               let v = Mvar.take m in
               same "inside" inside (look ());
               v)))
  in
  let t =
    A.direct (fun () ->
        let v = inside () in
        same "after it" before (look ());
        v)
  in
  same "the caller's" before (look ());
  let* () = A.Mvar.put m 1 in
  let* v = t in
  same "the caller's, later" before (look ());
  int "the value" 1 v;
  Deferred.return ()

(* --- Turns ----------------------------------------------------------------- *)

(* A task whose operations never wait must not stop timers. *)
let never_waits () =
  let mailbox = Mailbox.create () and mutex = Mutex.create () in
  let over = ref false in
  let rec ticks n =
    if n = 0 then begin
      over := true;
      Deferred.return ()
    end
    else
      let* () = Async.Clock.after (Core.Time_float.Span.of_sec 0.0005) in
      ticks (n - 1)
  in
  let deadline = Unix.gettimeofday () +. 10. in
  let rec again operation =
    if !over then Deferred.return ()
    else if Unix.gettimeofday () > deadline then
      Alcotest.fail "it stops the scheduler"
    else
      let* () = operation () in
      again operation
  in
  let each operation =
    over := false;
    Deferred.all_unit [ ticks 3; again operation ]
  in
  async @@ fun () ->
  let* () =
    each (fun () ->
        Mailbox.add mailbox ();
        A.Mailbox.take mailbox)
  in
  let* () = each (fun () -> A.Mutex.with_lock mutex Deferred.return) in
  let* () = each (fun () -> A.select [ Event.always () ]) in
  each (fun () -> A.direct ignore)

(* --- Signal handlers that raise -------------------------------------------- *)

exception Interrupted

let waiting waiters =
  {
    Structure_kit.default with
    name = "test";
    how =
      By_hand
        {
          attempt = (fun () () -> None);
          enlist =
            (fun () w ->
              waiters := w :: !waiters;
              true);
          withdraw = (fun () _ -> ());
        };
  }

let resumers () =
  let n = 10_000 and interruptions = ref 0 and rounds = ref 0 in
  while !interruptions < 300 && !rounds < 100 do
    incr rounds;
    async @@ fun () ->
    let waiters = ref [] in
    let all =
      List.init n (fun _ -> A.sync (Event.make (waiting waiters) () ()))
    in
    let left = ref !waiters in
    let resume_all () =
      while not (List.is_empty !left) do
        ignore ((List.hd !left).Structure_kit.resumer (Ok ()) : bool);
        left := List.tl !left
      done
    in
    Interrupting.run ~by:Interrupted ~count:interruptions resume_all;
    let limit = Async.Clock.after (Core.Time_float.Span.of_sec 10.) in
    let* () =
      Deferred.choose
        [
          Deferred.choice (Deferred.all_unit all) ignore;
          Deferred.choice limit ignore;
        ]
    in
    let lost = List.filter (fun t -> not (Deferred.is_determined t)) all in
    int "lost" 0 (List.length lost);
    Deferred.return ()
  done;
  yes "it was interrupted" (!interruptions > 0)

let tests =
  [
    ( "direct style in Async",
      [
        test "a job" in_a_job;
        test "the message" message;
        test "run_in_async" in_run_in_async;
        test "a thread" in_a_thread;
        test "the initial thread" between;
        test "Eio in a job" eio_in_a_job;
        test "a lazy value that had to wait is not failed" lazy_refused;
      ] );
    ( "the scheduler",
      [
        test "the context of direct" context_of_direct;
        test "operations that never wait" never_waits;
        test "signal handlers that raise" resumers;
      ] );
  ]
