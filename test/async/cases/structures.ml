(* What is special to Async. [Wakers] and [Scopes] have the cases of every host, and [As_host] the
   contract. *)

open Concord
open Concord_test_support
open Check
open Wakers
module Monitor = Async.Monitor
module Scheduler = Async.Scheduler

(* --- Order, choices, time ------------------------------------------------- *)

let fifo () =
  async @@ fun () ->
  let m = Mvar.create_empty () and served = ref [] in
  let waiters =
    List.init 10 (fun i ->
        Deferred.map (A.Mvar.take m) ~f:(fun v -> served := (i, v) :: !served))
  in
  let put () =
    for i = 0 to 9 do
      Mvar.put m i
    done
  in
  let* () = in_domain Concord_fifo.run put in
  let* () = Deferred.all_unit waiters in
  yes "order" (List.rev !served = List.init 10 (fun i -> (i, i)));
  Deferred.return ()

let timeout () =
  async @@ fun () ->
  let m : int Mvar.t = Mvar.create_empty () in
  let* v = A.sync_before 0.005 (Mvar.take_evt m) in
  yes "too late" (v = None);
  int "no task waits" 0 (Mvar.waiters m);
  Deferred.return ()

(* --- Execution context ---------------------------------------------------- *)

let key = Core.Univ_map.Key.create ~name:"test" Core.Int.sexp_of_t

let context () =
  async @@ fun () ->
  let m = Mvar.create_empty () in
  let look () =
    let context = Scheduler.current_execution_context () in
    ( Async_kernel.Execution_context.monitor context,
      Async_kernel.Execution_context.priority context,
      Scheduler.find_local key )
  in
  let same (monitor, priority, local) (monitor', priority', local') =
    yes "monitor" (monitor == monitor');
    yes "priority" (priority = priority');
    yes "local" (local = local' && local <> None)
  in
  let wait () =
    let before = look () in
    let* () = A.Mvar.take m in
    same before (look ());
    A.direct (fun () ->
        Mvar.take m;
        same before (look ()))
  in
  let waited =
    Scheduler.with_local key (Some 1) ~f:(fun () ->
        Scheduler.within' ~monitor:(Monitor.create ())
          ~priority:Async_kernel.Priority.low wait)
  in
  let put () =
    Mvar.put m ();
    Mvar.put m ()
  in
  let* () = in_domain Concord_fifo.run put in
  waited

(* --- Other threads -------------------------------------------------------- *)

let invalid = function Invalid_argument _ -> true | _ -> false

let refused what f =
  match f () with
  | (_ : _ Deferred.t) -> Some (what ^ ": it did not raise")
  | exception e when invalid e -> None
  | exception e -> Some (what ^ ": " ^ Printexc.to_string e)

let foreign run () =
  let m : unit Mvar.t = Mvar.create_empty () in
  let mutex = Mutex.create () and closed = Mailbox.create () in
  Mailbox.close closed;
  let ended = ref false in
  let complaints =
    run @@ fun () ->
    List.filter_map
      (fun (what, f) -> refused what f)
      [
        ("take", fun () -> A.Mvar.take m);
        ("select", fun () -> A.select [ Mvar.take_evt m ]);
        ( "direct",
          fun () ->
            A.direct (fun () ->
                Fun.protect
                  ~finally:(fun () -> ended := true)
                  (fun () -> Mvar.take m)) );
        ("with_lock", fun () -> A.Mutex.with_lock mutex Deferred.return);
        ( "of_deferred",
          fun () ->
            ignore (A.of_deferred (Deferred.never ()) : unit Promise.t);
            Deferred.return () );
      ]
    @ (match (A.Mailbox.take closed : unit Deferred.t) with
      | _ -> [ "a failure is not raised" ]
      | exception Mailbox.Closed -> []
      | exception e -> [ Printexc.to_string e ])
    @
    match Deferred.peek (A.Mvar.put (Mvar.create_empty ()) ()) with
    | Some () -> []
    | None -> [ "put" ]
  in
  strings "complaints" [] complaints;
  yes "what has to end was ended" !ended;
  int "no task waits" 0 (Mvar.waiters m);
  yes "unlocked" (Mutex.try_lock mutex)

(* --- Promises ------------------------------------------------ *)

let of_deferred () =
  async @@ fun () ->
  let ivar = Async.Ivar.create () in
  let p = A.of_deferred (Async.Ivar.read ivar) in
  let got = ref 0 in
  let awaited = in_domain Concord_fifo.run (fun () -> got := Promise.await p) in
  Async.Ivar.fill_exn ivar 7;
  let* () = awaited in
  int "value" 7 !got;
  Deferred.return ()

let run () =
  run "concord-async"
    (tests @ Jobs.tests @ Posts.tests @ Flows.tests @ Choices.tests
   @ Backtraces.suites @ Scopes.suites @ Storage.suites @ Failures.tests
   @ Spins.suites
    @ [
        ( "waiting",
          [
            test "in order" fifo;
            test "timeout" timeout;
            test "execution context" context;
            test "of_deferred" of_deferred;
            test "lazy, computed here" Lazy_values.computed_here;
            test "lazy, computed there" Lazy_values.computed_there;
            test "lazy, shared by all" Lazy_values.shared;
          ] );
        ( "other threads",
          [
            test "another domain" (foreign Check.in_domain);
            test "another thread"
              (foreign (fun f -> async (fun () -> Async.In_thread.run f)));
          ] );
      ]
    @ Many.tests)
