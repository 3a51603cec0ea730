(* The rules while code of Async runs. Nothing freezes it or changes its context. *)

open Concord
open Concord_test_support
open Check
open In_async
module Scheduler = Async.Scheduler
module Monitor = Async.Monitor

(* --- Direct style where nothing can be suspended --------------------------- *)

let refused = Callbacks.cannot_wait

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

let tests =
  [
    ("direct style in a job", Callbacks.all);
    ("in other threads", Threads.in_other_threads);
    ( "posted jobs",
      test "while Async does not run" Threads.before_the_loop :: Threads.jobs );
    ( "direct style in Async",
      [
        test "run_in_async" in_run_in_async;
        test "a thread" in_a_thread;
        test "the initial thread" between;
        test "Eio in a job" eio_in_a_job;
      ] );
    ( "the scheduler",
      [
        test "the context of direct" context_of_direct;
        test "operations that never wait" Ready.others_continue;
      ] );
  ]
