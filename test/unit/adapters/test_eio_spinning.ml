(* A fiber may spin before it sleeps, and the first one that waits in a domain always does.
   So each test has a domain of its own. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Boom

let main f () = in_domain (fun () -> Eio_main.run f)
let rounds = if instrumented || debugged then 1_000 else 10_000

(* --- Other fibers of the loop --------------------------------------------------- *)

let yields () =
  traced [ "a 1"; "b 1"; "a 2"; "b 2"; "a 3"; "b 3" ] @@ fun say ->
  let task name () =
    for i = 1 to 3 do
      say (Printf.sprintf "%s %d" name i);
      Suspend.yield ()
    done
  in
  main (fun _ -> Eio.Fiber.both (task "a") (task "b")) ()

(* The other domain fills the promise only after a sibling has had its turns. *)
let siblings_go_on _ =
  let turns = Atomic.make 0 and p = Promise.create () in
  let join =
    domain (fun () ->
        eventually "the sibling continues" (fun () -> Atomic.get turns = 1_000);
        Promise.fill p 5)
  in
  Eio.Fiber.both
    (fun () -> int "value" 5 (Promise.await p))
    (fun () ->
      for _ = 1 to 1_000 do
        Atomic.incr turns;
        Eio.Fiber.yield ()
      done);
  join ()

(* A fiber that spins must not delay the loop's timeouts. *)
let timeouts_go_on env =
  let p = Promise.create () and slept = Atomic.make false in
  let join =
    domain (fun () ->
        eventually "the sibling has slept" (fun () -> Atomic.get slept);
        Promise.fill p ())
  in
  Eio.Fiber.both
    (fun () -> Promise.await p)
    (fun () ->
      Eio.Time.sleep (Eio.Stdenv.clock env) 0.001;
      Atomic.set slept true);
  join ()

(* --- Cancelling -------------------------------------------------------------------- *)

let cancelled_then_put _ =
  int "no task took it" 0 (Eio_cases.cancelled_then_resumed ())

(* The fiber is resumed first and cancelled afterwards in the same turn of the loop, so it
   keeps its value. *)
let put_then_cancelled _ =
  let box = Mvar.create_empty () in
  let got = ref 0 in
  Eio.Fiber.first
    (fun () ->
      got := Mvar.take box;
      raises "the next suspension raises" (Eio.Cancel.Cancelled Boom) (fun () ->
          try Eio.Fiber.check ()
          with Eio.Cancel.Cancelled _ -> raise (Eio.Cancel.Cancelled Boom)))
    (fun () -> Mvar.put box 3);
  int "it has its value" 3 !got

let protected _ =
  let p = Promise.create () and got = ref 0 in
  (try
     Eio.Switch.run (fun sw ->
         Eio.Fiber.fork ~sw (fun () ->
             got := Eio.Cancel.protect (fun () -> Promise.await p));
         Eio.Switch.fail sw Boom;
         int "it still waits" 1 (Promise.waiters p);
         domain (fun () -> Promise.fill p 6) ())
   with Boom -> ());
  int "value" 6 !got

(* Each value is in one place, whether the taker or the cancellation is faster. *)
let no_value_is_lost cancel env =
  let box = Mvar.create_empty () and next = ref 1 in
  let join =
    domain (fun () ->
        for i = 1 to rounds do
          Mvar.put box i
        done)
  in
  let take () =
    let v = Mvar.take box in
    int "the next one" !next v;
    incr next
  in
  let round = ref 0 in
  while !next <= rounds do
    incr round;
    cancel env !round take
  done;
  join ()

let some_yields n =
  for _ = 1 to n mod 7 do
    Eio.Fiber.yield ()
  done

let by_another_fiber _ n take = Eio.Fiber.first take (fun () -> some_yields n)

let by_its_switch _ n take =
  try
    Eio.Switch.run (fun sw ->
        Eio.Fiber.fork ~sw take;
        some_yields n;
        Eio.Switch.fail sw Boom)
  with Boom -> ()

let by_a_timeout env n take =
  let clock = Eio.Stdenv.clock env in
  try Eio.Time.with_timeout_exn clock (float (n mod 5) *. 1e-5) take
  with Eio.Time.Timeout -> ()

let by_concord's_timeout _ n take =
  ignore (Tasks.with_timeout (float (n mod 5) *. 1e-5) take : unit option)

(* --- Signal handlers ------------------------------------------------------------ *)

(* A handler raises at any allocation of a fiber that spins, falls asleep, and is resumed. The fiber
   gets the handler's own exception. *)
let interrupted () =
  Interrupting.at_every_allocation ~within:"Concord__core__Spinning"
  @@ fun () ->
  let ended = ref (Error Not_found) in
  let wait armed =
    let p = Promise.create () in
    let await () =
      armed := true;
      ended := try Ok (Promise.await p) with e -> Error e
    and fill () =
      for _ = 1 to 1_000 do
        Eio.Fiber.yield ()
      done;
      armed := false;
      Promise.fill p ()
    in
    main (fun _ -> Eio.Fiber.both await fill) ()
  and check what =
    match !ended with
    | Ok () | Error Exit -> ()
    | Error e -> Alcotest.failf "%s: %s" what (Printexc.to_string e)
  in
  (wait, check)

(* --- Two domains ----------------------------------------------------------------- *)

let in_fiber f = Eio_main.run (fun _ -> f ())
let in_fifo_in_fiber f = Eio_main.run (fun _ -> Fifo.run f)

(* Two users of [Domain_local_await] run beside a fiber that spins. *)
let local_await () =
  let turn = Atomic.make 0
  and wakers = [| Atomic.make ignore; Atomic.make ignore |] in
  let rec await_turn me =
    if Atomic.get turn land 1 <> me then begin
      let t = Domain_local_await.prepare_for_await () in
      Atomic.set wakers.(me) t.release;
      if Atomic.get turn land 1 <> me then t.await ();
      await_turn me
    end
  in
  let player me stop () =
    for _ = 1 to 300 do
      await_turn me;
      Atomic.incr turn;
      (Atomic.get wakers.(1 - me)) ()
    done;
    Promise.fill stop ()
  in
  let stops = [| Promise.create (); Promise.create () |] in
  let loop me () =
    Eio_main.run (fun _ ->
        Eio.Fiber.both
          (player me stops.(me))
          (fun () -> Promise.await stops.(1 - me)))
  in
  let join = domain (loop 1) in
  loop 0 ();
  join ()

let () =
  in_domain ignore;
  run "Fibers of Eio that spin"
    [
      ( "other fibers of the loop",
        [
          test "have their turns when it yields" yields;
          test "continue" (main siblings_go_on);
          test "sleep, and wake up" (main timeouts_go_on);
        ] );
      ( "cancelling",
        [
          test "then a put: the value stays" (main cancelled_then_put);
          test "after a put: it has its value" (main put_then_cancelled);
          test "not where it is protected" (main protected);
        ] );
      ( "cancelling while another domain resumes",
        [
          test "Fiber.first" (main (no_value_is_lost by_another_fiber));
          test "Switch.fail" (main (no_value_is_lost by_its_switch));
          test "Time.with_timeout" (main (no_value_is_lost by_a_timeout));
          test "Tasks" (main (no_value_is_lost by_concord's_timeout));
        ] );
      ( "signal handlers that raise",
        Interrupting.only (test "while it falls asleep" interrupted) );
      ( "two domains",
        [
          test "two loops" (fun () ->
              Exchange.between ~rounds in_fiber in_fiber);
          test "a loop, a plain domain" (fun () ->
              Exchange.between ~rounds in_fiber (fun f -> f ()));
          test "Fifo in fibers" (fun () ->
              Exchange.between ~rounds in_fifo_in_fiber in_fifo_in_fiber);
          test "Domain_local_await" local_await;
        ] );
    ]
