open Concord
open Concord.Tools
open Concord_test_support
open Check

exception Boom

let protect_in_a_systhread () =
  let v = Eio_unix.run_in_systhread (fun () -> Suspend.protect (fun () -> 3)) in
  int "value" 3 v

(* With the plug-in, a fiber waits by Eio's own suspension. It must not use
   Domain_local_await, because a cancelled fiber would leave a waiter of that in the loop. *)
let plugged_in () =
  let prepared = ref 0 in
  let prepare_for_await () =
    incr prepared;
    raise Exit
  in
  let await () =
    let p = Promise.create () in
    Eio.Fiber.both (fun () -> Promise.await p) (fun () -> Promise.fill p ())
  in
  (* The first wait asks which scheduler this is. Later waits remember the answer. *)
  await ();
  Domain_local_await.using ~prepare_for_await ~while_running:(fun () ->
      match await () with
      | () -> Alcotest.fail "another scheduler was registered"
      | exception _ -> ());
  yes "it was asked for the new scheduler" (!prepared > 0);
  let before = !prepared in
  for _ = 1 to 100 do
    await ()
  done;
  int "not asked again" before !prepared

(* Once the fibers' handler is known, effects that Eio doesn't handle are no longer
   performed. Otherwise a host around the loop would handle them, and protect or fork a task
   of its own instead of a fiber. *)
let not_performed () =
  let performed = ref 0 in
  let effc (type a) (effect_ : a Effect.t) :
      ((a, unit) Effect.Deep.continuation -> unit) option =
    (match effect_ with
    | Suspend.Suspend _ | Suspend.Protect | Suspend.Scopes -> incr performed
    | _ -> ());
    None
  in
  let wait_often () =
    let await () =
      let p = Promise.create () in
      Eio.Fiber.both (fun () -> Promise.await p) (fun () -> Promise.fill p ())
    in
    await ();
    yes "known" (Private.Plugin.knows_handler ());
    let before = !performed in
    for _ = 1 to 100 do
      await ();
      Suspend.yield ();
      Suspend.protect await;
      Scope.run (fun scope -> Scope.fork scope await);
      Event.select [ Event.always (); Event.never ]
    done;
    int "not performed" before !performed
  in
  Effect.Deep.try_with
    (fun () -> Eio_main.run (fun _ -> wait_often ()))
    () { effc }

(* Runs a scheduler that only handles the effect, and registers nowhere, in a fiber whose
   own handler is already known. The scheduler's tasks wait for one another. If the fiber
   were suspended instead of the task, it would never continue. *)
let handler_in_a_fiber () =
  Suspend.yield ();
  let log = ref [] in
  let say what = log := what :: !log in
  let from_sibling = Promise.create () and box = Mvar.create_empty () in
  Concord_test_hosts.Mini.run
    [
      (fun () ->
        say (Promise.await from_sibling);
        Mvar.put box "put");
      (fun () ->
        Promise.fill from_sibling "filled";
        say (Mvar.take box);
        (* Tests an Eio loop inside such a task as well. *)
        Eio_main.run (fun _ ->
            Suspend.yield ();
            say "in a loop inside"));
    ];
  Suspend.yield ();
  Alcotest.(check (list string))
    "each waited"
    [ "filled"; "put"; "in a loop inside" ]
    (List.rev !log)

(* Where the exception of a cancelled fiber was raised. *)
let raised_at () =
  let trace = ref "" in
  (try
     Eio.Switch.run @@ fun sw ->
     Eio.Fiber.fork ~sw (fun () ->
         try Promise.await (Promise.create ())
         with e ->
           let backtrace = Printexc.get_raw_backtrace () in
           trace := Printexc.raw_backtrace_to_string backtrace;
           Printexc.raise_with_backtrace e backtrace);
     Eio.Switch.fail sw Boom
   with Boom -> ());
  List.hd (String.split_on_char '\n' !trace)

(* The backtrace begins where the scheduler raised the exception, not where the plug-in caught it. A
   fiber that spins raises it itself, but then the next one doesn't spin. *)
let backtrace_of_cancellation () =
  Suspend.yield ();
  let first = raised_at () in
  let is_spinning =
    String.starts_with ~prefix:"Raised at Concord__core__Spinning" first
  in
  let first = if is_spinning then raised_at () else first in
  if not (String.starts_with ~prefix:"Raised at Stdlib__Effect" first) then
    Alcotest.failf "the backtrace begins elsewhere: %S" first

(* A block that raises [Unhandled] for one of Eio's effects has waited nevertheless. The
   fiber must get that exception and must not try another host. *)
let exception_of_another () =
  let came_back =
    Effect.Unhandled (Eio.Private.Effects.Suspend (fun _ _ -> ()))
  in
  let waits = ref 0 in
  let resumed_with resumer =
    ignore (resumer (Error came_back) : bool);
    None
  in
  List.iter
    (fun (what, block) ->
      waits := 0;
      let block resumer =
        incr waits;
        block resumer
      in
      match Suspend.suspend block with
      | () -> Alcotest.failf "%s: it has returned" what
      | exception e ->
          yes what (e == came_back);
          int what 1 !waits)
    [ ("resumed", resumed_with); ("raised", fun _ -> raise came_back) ]

(* Cancellation reaches Eio's own suspension at once, so the later value stays in the box. *)
let cancelled_at_once () =
  int "no task took it" 0 (Eio_cases.cancelled_then_resumed ())

(* The program's first waits are in a plain thread, so that fibers don't provide the first
   handler that the library learns. During its first wait, a thread checks whether it is
   alone. *)
let () =
  for _ = 1 to 2 do
    let p = Promise.create () in
    let join =
      domain (fun () ->
          eventually "it waits" (fun () -> Promise.waiters p = 1);
          Promise.fill p ())
    in
    Promise.await p;
    join ()
  done

let () =
  run "Eio, with concord-eio"
    (Eio_cases.suites
    @ [
        ( "protect",
          [
            test "works in a systhread" (Eio_cases.main protect_in_a_systhread);
          ] );
        ( "plug-in",
          [
            test "finds the innermost scheduler" (Eio_cases.main plugged_in);
            test "an effect that Eio does not handle is not performed"
              not_performed;
            test "a handler in a fiber is found"
              (Eio_cases.main handler_in_a_fiber);
            test "cancelled: the backtrace is kept"
              (Eio_cases.main backtrace_of_cancellation);
            test "the exception of another effect is passed on"
              (Eio_cases.main exception_of_another);
            test "cancelled, then put: the value stays"
              (Eio_cases.main cancelled_at_once);
          ] );
      ])
