(* Of tasks of Eio, Domainslib and Lwt: what a program prints when an exception ends it.
   The text is in [test_backtraces_hosts.expected]. *)

open Concord
open Trace
module Pool = Domainslib.Task

let on host run what f = case (host ^ ": " ^ what) (fun () -> run f)

(* For each host in direct style. *)
let common case =
  case "work" work;
  case "both" (fun () -> fst (both work (fun () -> 1)));
  case "Scope.fork" (fun () ->
      Scope.run (fun scope ->
          Scope.fork scope task;
          1));
  case "Scope.fork_promise" (fun () ->
      Scope.run (fun scope -> Promise.await (Scope.fork_promise scope work)));
  case "protect" (fun () -> Suspend.protect work);
  case "Concord_fifo.run" (fun () -> Concord_fifo.run work);
  case "resumed with an Error" resumed_with_error;
  case "block raises" block_raises;
  case "below try_with" (fun () -> with_try_with work);
  case "below match_with" (fun () -> with_match_with work);
  case "another domain" (fun () ->
      from_domain ~record:true (fun () -> Concord_fifo.run work))

let eio () =
  let case = on "eio" (fun f -> Eio_main.run (fun _ -> f ())) in
  common case;
  case "Fiber.fork" (fun () ->
      Eio.Switch.run (fun sw ->
          Eio.Fiber.fork ~sw task;
          1));
  case "Fiber.both" (fun () ->
      Eio.Fiber.both task ignore;
      1);
  case "Fiber.fork_promise, await_exn" (fun () ->
      Eio.Switch.run (fun sw ->
          Eio.Promise.await_exn (Eio.Fiber.fork_promise ~sw work)))

let with_pool domains f =
  let pool = Pool.setup_pool ~num_domains:domains () in
  Fun.protect ~finally:(fun () -> Pool.teardown_pool pool) (fun () -> f pool)

let recorded () =
  Printexc.record_backtrace true;
  work ()

let domainslib () =
  let in_pool f pool = Pool.run pool f in
  common (on "domainslib" (fun f -> with_pool 0 (in_pool f)));
  on "domainslib"
    (fun f -> with_pool 0 (fun pool -> Pool.run pool (fun () -> f pool)))
    "async, await"
    (fun pool -> Pool.await pool (Pool.async pool work));
  let case = on "domainslib" (with_pool 1) in
  let submit f pool =
    Concord_domainslib.attach pool;
    Concord_domainslib.submit pool f
  in
  case "submit" (fun pool -> Promise.await (submit recorded pool));
  case "submit, not recorded" (fun pool -> Promise.await (submit work pool));
  case "submit, from fifo" (fun pool ->
      Concord_fifo.run (fun () -> Promise.await (submit recorded pool)));
  case "submit, from eio" (fun pool ->
      Eio_main.run (fun _ -> Promise.await (submit recorded pool)))

(* What a callback raises is given on by Lwt. *)
let lwt () =
  let case what f = case ("lwt: " ^ what) (fun () -> Concord_lwt.run f) in
  let later () = Lwt.map (fun () -> outer ignore) (Lwt.pause ()) in
  let failing_later () =
    let promise = Promise.create () in
    Lwt.async (fun () -> Concord_lwt.direct (fun () -> failing promise work));
    promise
  in
  case "map" later;
  case "direct" (fun () -> Concord_lwt.direct work);
  case "Lwt_direct" (fun () -> Lwt_direct.spawn work);
  case "to_lwt" (fun () -> Concord_lwt.to_lwt (failing_later ()));
  case "of_lwt, direct" (fun () ->
      Concord_lwt.direct (fun () ->
          Promise.await (Concord_lwt.of_lwt (later ()))));
  case "direct, of another task" (fun () ->
      let promise = failing_later () in
      Concord_lwt.direct (fun () -> Promise.await promise))

let () =
  Printexc.record_backtrace true;
  eio ();
  domainslib ();
  lwt ()
