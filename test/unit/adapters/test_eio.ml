open Concord
open Concord.Tools
open Concord_test_support
open Check

exception Boom

let protect () =
  traced [ "inside"; "value 5"; "refused after" ] @@ fun say ->
  let p = Promise.create () in
  try
    Eio.Switch.run @@ fun sw ->
    Eio.Fiber.fork ~sw (fun () ->
        let v =
          Suspend.protect (fun () ->
              say "inside";
              Promise.await p)
        in
        say (Printf.sprintf "value %d" v);
        try Promise.await (Promise.create ())
        with Eio.Cancel.Cancelled _ -> say "refused after");
    Eio.Switch.fail sw Boom;
    int "it still waits" 1 (Promise.waiters p);
    Promise.fill p 5
  with Boom -> ()

let protect_raises () =
  raises "protect" Boom (fun () -> Suspend.protect (fun () -> raise Boom));
  Eio.Fiber.yield ()

let protect_in_a_systhread () =
  let v = Eio_unix.run_in_systhread (fun () -> Suspend.protect (fun () -> 3)) in
  int "value" 3 v

(* Eio is known by its plug-in: its own suspension, and no waiter of
   Domain_local_await, which a cancelled fiber would leave in the loop. *)
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
  (* The first wait asks which scheduler this is; the next ones know. *)
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

(* Once the handler of fibers is known, nothing is performed that would only come back: else
   a host around the loop would protect, or fork, what is the loop's. *)
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

(* A scheduler that handles the effect, and says so to nobody, in a fiber whose own handler
   is known. Its tasks wait for one another: a fiber that was suspended in their place would
   never go on. *)
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
        (* and a loop of Eio in its task *)
        Eio_main.run (fun _ ->
            Suspend.yield ();
            say "in a loop inside"));
    ];
  Suspend.yield ();
  Alcotest.(check (list string))
    "each waited"
    [ "filled"; "put"; "in a loop inside" ]
    (List.rev !log)

(* A fiber that is cancelled sees where its exception was raised: in the scheduler, not where
   the plug-in has caught it. *)
let backtrace_of_cancellation () =
  Suspend.yield ();
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
  let first = List.hd (String.split_on_char '\n' !trace) in
  if not (String.starts_with ~prefix:"Raised at Stdlib__Effect" first) then
    Alcotest.failf "the backtrace begins elsewhere: %S" !trace

(* A fiber that gets the exception of an effect of Eio's, which came back to other code, has
   waited: it gets that exception, and does not look for another host. *)
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

(* Eio tells its own suspension of a cancellation at once. *)
let cancelled_at_once () =
  int "nobody took it" 0 (Eio_cases.cancelled_then_resumed ())

(* The program's first waits are those of a thread, so that the handler of fibers is not what
   it is told of first. In the first one it looks whether it is alone. *)
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
            test "defers the cancellation of a fiber" (Eio_cases.main protect);
            test "passes an exception on" (Eio_cases.main protect_raises);
            test "works in a systhread" (Eio_cases.main protect_in_a_systhread);
          ] );
        ( "plug-in",
          [
            test "finds the innermost scheduler" (Eio_cases.main plugged_in);
            test "the effect that would come back is not performed"
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
