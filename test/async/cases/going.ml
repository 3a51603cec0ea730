(* In [go], a direct-style operation that has to wait in a job raises. In [direct] it suspends,
   and foreign schedulers there are recognised as the hosts. *)

open Concord
open Concord_test_support
module A = Concord_async
module Deferred = Async.Deferred

let ( let* ) t f = Deferred.bind t ~f
let check what condition = if not condition then Race.fail "%s" what

let in_job () =
  let m : unit Mvar.t = Mvar.create_empty () in
  (match Mvar.take m with
  | () -> Race.fail "it took nothing"
  | exception A.In_job -> ());
  check "no task waits" (Mvar.waiters m = 0);
  check "need not wait"
    (Mvar.put m ();
     Mvar.take m = ())

let in_direct () =
  let p = Promise.create () in
  let t = A.direct (fun () -> Promise.await p) in
  let domain = Domain.spawn (fun () -> Promise.fill p 1) in
  Deferred.map t ~f:(fun v ->
      Domain.join domain;
      check "direct" (v = 1))

(* A fiber waits, but the inner loop as a whole doesn't. *)
let nested () =
  A.direct (fun () ->
      Eio_main.run (fun _ ->
          let m = Mvar.create_empty () in
          Eio.Fiber.both
            (fun () -> check "fiber" (Mvar.take m = 1))
            (fun () -> Mvar.put m 1)))

let run () =
  Race.watchdog ~seconds:60.;
  let all =
    let* () = Async.Scheduler.yield () in
    in_job ();
    let* () = in_direct () in
    nested ()
  in
  Async.upon all (fun () -> Async.shutdown 0);
  Core.never_returns (A.go ())
