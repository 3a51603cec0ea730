(* Backtraces of tasks of Eio, with its plug-in and without it. [common] has the cases that
   every host in direct style shows. *)

open Trace
open Concord
open Concord.Tools

let on host run what f = case (host ^ ": " ^ what) (fun () -> run f)

(* The cases for each host in direct style. *)
let common case =
  case "work" work;
  case "both" (fun () -> fst (Tasks.both work (fun () -> 1)));
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

let eio name =
  let case = on name (fun f -> Eio_main.run (fun _ -> f ())) in
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
          Eio.Promise.await_exn (Eio.Fiber.fork_promise ~sw work)));
  Eio_main.run (fun _ ->
      Eio.Switch.run (fun sw ->
          where_it_waits
            (name ^ ": where a fiber waits")
            ~fork:(Eio.Fiber.fork ~sw) ~yield:Eio.Fiber.yield))
