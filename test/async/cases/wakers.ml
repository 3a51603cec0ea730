(* Each operation waits in Async, in its own style, and tasks of each host wake it. [Scopes] has
   code in direct style. *)

open Concord
open Concord_test_support
open Concord_test_hosts
module A = Concord_async
module Deferred = Async.Deferred

let ( let* ) t f = Deferred.bind t ~f
let async f = Async.Thread_safe.block_on_async_exn f
let ignored t = Deferred.map t ~f:ignore

(* --- The wakers ----------------------------------------------------------- *)

let pooled f =
  let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
  Domainslib.Task.run pool (fun () ->
      Domainslib.Task.await pool (Domainslib.Task.async pool f));
  Domainslib.Task.teardown_pool pool

(* Runs [f], and fills or fails the promise. *)
let ending ended f () =
  match f () with
  | () -> Promise.fill ended ()
  | exception e -> Promise.fail ended e

(* [f] runs in a task of another domain, or at least of another thread. *)
let in_domain run f =
  let ended = Promise.create () in
  let domain = Domain.spawn (ending ended (fun () -> run f)) in
  let* () = A.to_deferred ended in
  Domain.join domain;
  Deferred.return ()

let in_thread f =
  let ended = Promise.create () in
  let thread = Thread.create (ending ended f) () in
  let* () = A.to_deferred ended in
  Thread.join thread;
  Deferred.return ()

let wakers =
  [
    ( "a job of Async",
      fun f ->
        let* () = Async.Scheduler.yield () in
        f ();
        Deferred.return () );
    ("Eio", in_domain (fun f -> Eio_main.run (fun _ -> f ())));
    ("Fifo", in_domain Concord_fifo.run);
    ("Domainslib", in_domain pooled);
    ("a domain", in_domain (fun f -> f ()));
    ("a thread", in_thread);
  ]

(* --- The operations ------------------------------------------------------- *)

let got expected t = Deferred.map t ~f:(fun v -> Check.int "value" expected v)

module Operations = Waits.Make (struct
  include A

  type 'a promise = 'a Deferred.t

  let return = Deferred.return
  let map f t = Deferred.map t ~f
end)

let wait_and_wake wake_by (name, make) =
  let { Waits.wait; waiters; wake; passed; _ } = make () in
  let waits = wait () in
  Check.no (name ^ ": it waits") (Deferred.is_determined waits);
  Check.int (name ^ ": one waits") 1 (waiters ());
  let* () = wake_by wake in
  let* ok = waits in
  Check.yes (name ^ ": its value") ok;
  Check.int (name ^ ": no task waits") 0 (waiters ());
  Check.yes (name ^ ": the value is nowhere else") (passed ());
  Deferred.return ()

let each wake_by () =
  async (fun () ->
      Deferred.List.iter ~how:`Sequential (Operations.all ())
        ~f:(wait_and_wake wake_by))

let in_turn wake = Deferred.map (Async.Scheduler.yield ()) ~f:wake

(* Its promise is filled when the wake has ended. *)
let in_a_job run_job wake =
  let woken = Promise.create () in
  run_job (ending woken wake);
  A.Promise.await woken

let woken_by (name, start) =
  Check.test ("woken by " ^ name) (fun () ->
      Waking.with_jobs start (fun run_job -> each (in_a_job run_job) ()))

let tests =
  [
    ( "each operation",
      Check.test "woken by a job of Async" (each in_turn)
      :: List.map woken_by
           (Waking.starts
           @ [ ("Domainslib", fun f -> Check.domain (fun () -> pooled f)) ]) );
  ]
