(* Converts promises of Eio and Domainslib to ours and back, and calls functions when they
   are resolved. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Pool = Domainslib.Task

exception Boom

let[@inline never] culprit () = if true then raise Boom
let in_switch f () = Eio_main.run (fun _ -> Eio.Switch.run f)

(* --- To Eio's promises ----------------------------------------------------- *)

let to_eio _ =
  let p = Promise.create () in
  let e = Concord_eio.to_eio p in
  no "pending" (Eio.Promise.is_resolved e);
  Eio.Fiber.both
    (fun () -> int "value" 1 (Eio.Promise.await_exn e))
    (fun () -> Promise.fill p 1);
  yes "at once" (Eio.Promise.peek (Concord_eio.to_eio p) = Some (Ok 1));
  let p : int Promise.t = Promise.create () in
  let e = Concord_eio.to_eio p in
  Promise.fail p Boom;
  raises "failure" Boom (fun () -> Eio.Promise.await_exn e);
  yes "as a result" (Eio.Promise.await (Concord_eio.to_eio p) = Error Boom)

let to_eio_from_elsewhere _ =
  let p = Promise.create () in
  let e = Concord_eio.to_eio p in
  let domain = domain (fun () -> Promise.fill p 2) in
  int "from a domain" 2 (Eio.Promise.await_exn e);
  domain ();
  let p = Promise.create () in
  let e = in_domain (fun () -> Concord_eio.to_eio p) in
  let thread = thread (fun () -> Promise.fill p 3) in
  int "made there, from a thread" 3 (Eio.Promise.await_exn e);
  thread ();
  let p = Promise.create () in
  let e = Concord_eio.to_eio p in
  let fill _ = Promise.fill p 4 in
  let previous = Sys.signal Sys.sigusr1 (Signal_handle fill) in
  Unix.kill (Unix.getpid ()) Sys.sigusr1;
  int "from a signal handler" 4 (Eio.Promise.await_exn e);
  Sys.set_signal Sys.sigusr1 previous

(* --- From Eio's promises --------------------------------------------------- *)

let of_eio sw =
  let e, resolver = Eio.Promise.create () in
  let p = Concord_eio.of_eio ~sw e in
  no "pending" (Promise.is_resolved p);
  let domain = domain (fun () -> Promise.await p) in
  eventually "it waits" (fun () -> Promise.waiters p = 1);
  Eio.Promise.resolve resolver 5;
  int "here" 5 (Promise.await p);
  int "in a domain" 5 (domain ());
  yes "at once" (Promise.peek (Concord_eio.of_eio ~sw e) = Some (Ok 5))

let of_eio_exn sw =
  let fiber =
    Eio.Fiber.fork_promise ~sw (fun () ->
        Eio.Fiber.yield ();
        6)
  in
  int "a fiber" 6 (Promise.await (Concord_eio.of_eio_exn ~sw fiber));
  let fiber =
    Eio.Fiber.fork_promise ~sw (fun () ->
        Eio.Fiber.yield ();
        culprit ())
  in
  raises "a failure" Boom (fun () ->
      Promise.await (Concord_eio.of_eio_exn ~sw fiber));
  raises "at once" Boom (fun () ->
      Promise.await (Concord_eio.of_eio_exn ~sw fiber))

let is_cancelled p =
  match Promise.peek p with
  | Some (Error (Eio.Cancel.Cancelled _)) -> true
  | Some _ | None -> false

let switch_ends _ =
  let never, _ = Eio.Promise.create () in
  let p : int Promise.t =
    Eio.Switch.run (fun sw -> Concord_eio.of_eio ~sw never)
  in
  yes "the switch has ended" (is_cancelled p);
  let p = ref None and after = ref false in
  (match
     Eio.Switch.run (fun sw ->
         p := Some (Concord_eio.of_eio ~sw never);
         Eio.Switch.fail sw Boom;
         match Concord_eio.of_eio ~sw never with
         | (_ : int Promise.t) -> ()
         | exception Eio.Cancel.Cancelled _ -> after := true)
   with
  | () -> Alcotest.fail "the switch has failed"
  | exception Boom -> ());
  yes "the switch has failed" (is_cancelled (Option.get !p));
  yes "one that is off raises a clear error" !after

let there_and_back sw =
  let p = Promise.create () in
  let q = Concord_eio.of_eio_exn ~sw (Concord_eio.to_eio p) in
  Promise.fill p 7;
  int "value" 7 (Promise.await q)

(* --- Domainslib ------------------------------------------------------------ *)

let with_pool f () =
  let pool = Pool.setup_pool ~num_domains:1 () in
  Fun.protect
    ~finally:(fun () -> Pool.teardown_pool pool)
    (fun () ->
      Concord_domainslib.attach pool;
      f pool)

let of_task pool =
  let of_task = Concord_domainslib.of_task in
  let task = Pool.async pool (fun () -> 8) in
  int "a thread" 8 (Promise.await (of_task pool task));
  int "again, in Fifo" 8
    (Concord_fifo.run (fun () -> Promise.await (of_task pool task)));
  int "in a domain" 8 (in_domain (fun () -> Promise.await (of_task pool task)));
  int "in the pool" 8
    (Pool.run pool (fun () -> Promise.await (of_task pool task)));
  let failing =
    Pool.async pool (fun () ->
        Printexc.record_backtrace true;
        culprit ())
  in
  let p = of_task pool failing in
  raises "failure" Boom (fun () -> Promise.await p);
  raises_at "culprit" (fun () -> Promise.await p);
  (* Here the converted task has to wait. *)
  let gate = Promise.create () in
  let p = of_task pool (Pool.async pool (fun () -> Promise.await gate)) in
  no "pending" (Promise.is_resolved p);
  Promise.fill gate 9;
  int "it waited" 9 (Promise.await p)

let to_task pool =
  let p = Promise.create () and failed : int Promise.t = Promise.create () in
  (try culprit () with Boom -> Promise.fail failed Boom);
  let task = Concord_domainslib.to_task pool p in
  Promise.fill p 10;
  int "value" 10 (Pool.run pool (fun () -> Pool.await pool task));
  raises "failure" Boom (fun () ->
      Pool.run pool (fun () ->
          Pool.await pool (Concord_domainslib.to_task pool failed)))

(* --- Functions that run when a promise is resolved ------------------------- *)

(* Such a function runs outside of any fiber. [Eio.traceln] must work there, and effects of
   Eio must be refused with a clear error. *)
let effects_of_eio _ =
  let p = Promise.create () and logged = ref false in
  Promise.on_resolve p (fun _ ->
      Eio.traceln "%s" "";
      logged := true);
  Promise.fill p ();
  yes "logged" !logged;
  let refuses what f =
    match Promise.peek (Promise.map f p) with
    | Some (Error (Invalid_argument text)) ->
        yes what (contains text "Promise.on_resolve")
    | Some _ | None -> Alcotest.failf "%s: it is not refused" what
  in
  refuses "yield" Eio.Fiber.yield;
  refuses "a fiber" (fun () -> Eio.Fiber.both ignore ignore);
  refuses "a scope" (fun () -> ignore (Tasks.both ignore ignore : unit * unit));
  refuses "a switch" (fun () -> Eio.Switch.run ignore);
  refuses "another promise" (fun () ->
      Eio.Promise.await (fst (Eio.Promise.create ())));
  Suspend.yield ()

let effects_of_domainslib pool =
  Pool.run pool @@ fun () ->
  let gate = Promise.create () in
  let task = Pool.async pool (fun () -> Promise.await gate) in
  match
    Promise.peek
      (Promise.map (fun () -> Pool.await pool task) (Promise.of_value ()))
  with
  | Some (Error (Invalid_argument text)) ->
      yes "await" (contains text "Promise.on_resolve");
      Promise.fill gate ();
      Pool.await pool task
  | Some _ | None -> Alcotest.fail "await: it is not refused"

let () =
  run "Conversions of promises"
    [
      ( "Eio",
        [
          test "to_eio" (in_switch to_eio);
          test "to_eio, resolved elsewhere" (in_switch to_eio_from_elsewhere);
          test "of_eio" (in_switch of_eio);
          test "of_eio_exn" (in_switch of_eio_exn);
          test "the switch ends" (in_switch switch_ends);
          test "there and back" (in_switch there_and_back);
        ] );
      ( "Domainslib",
        [
          test "of_task" (with_pool of_task); test "to_task" (with_pool to_task);
        ] );
      ( "effects in functions of promises",
        [
          test "Eio" (in_switch effects_of_eio);
          test "Domainslib" (with_pool effects_of_domainslib);
        ] );
    ]
