(* Helpers that the tests of pools share. *)

open Concord
open Concord_test_support
open Check
module Pool = Domainslib.Task
open Concord_domainslib

exception Boom

let with_pool = Attached_pools.with_pool
let[@inline never] culprit () = if true then raise Boom
let here () = (Domain.self () :> int)
let ignore_job (_ : unit Promise.t) = ()
let eio f = Eio_main.run (fun _ -> f ())

(* Returns after every task that had been resumed has continued. The pool keeps resumed
   tasks in a queue, and they run before the last of these jobs. *)
let settle pool =
  for i = 1 to 5 do
    int "runs" i (run pool (fun () -> i))
  done

(* Submits a job and returns once it has started. The job then waits for [gate]. *)
let held pool gate f =
  let started = Promise.create () in
  let job =
    submit pool (fun () ->
        Promise.fill started ();
        Promise.await gate;
        f ())
  in
  Promise.await started;
  job

(* Keeps a domain of the pool busy until the returned function is called. *)
let occupy pool =
  let started = Promise.create () and release = Atomic.make false in
  let busy =
    submit pool (fun () ->
        Promise.fill started (here ());
        while not (Atomic.get release) do
          Domain.cpu_relax ()
        done)
  in
  let domain = Promise.await started in
  let free () =
    Atomic.set release true;
    Promise.await busy
  in
  (domain, free)
