(* Async, for the cases of every library of promises. [Scopes] has code in direct style. *)

open Concord
open Concord_test_support
open Concord_test_hosts
module A = Concord_async
module Deferred = Async.Deferred
module Monitor = Async.Monitor

let ( let* ) t f = Deferred.bind t ~f
let async f = Async.Thread_safe.block_on_async_exn f

module Library = struct
  include A

  type 'a promise = 'a Deferred.t

  let return = Deferred.return
  let map f t = Deferred.map t ~f
  let bind t f = Deferred.bind t ~f
  let peek = Deferred.peek
  let maps_at_once = false
  let pause () = Async.Scheduler.yield ()
  let sleep s = Async.Clock.after (Core.Time_float.Span.of_sec s)

  let failure f =
    Deferred.map (Monitor.try_with ~run:`Now ~rest:`Raise f) ~f:(function
      | Ok _ -> Alcotest.fail "it did not fail"
      | Error e -> Monitor.extract_exn e)

  let run = async
  let mine = Domain.self ()

  let is_here () =
    Domain.self () = mine && Async.Thread_safe.am_holding_async_lock ()
end

module Cases = Promise_cases.Make (Library)
module Ready = Promise_ready.Make (Library)
module Threads = Promise_threads.Make (Library)

module Callbacks =
  Promise_callbacks.Make
    (Library)
    (struct
      let cannot_wait = A.In_job
      let modul = "Concord_async"
    end)

(* [f] runs in a task of another domain. *)
let in_domain run f =
  let ended = Promise.create () in
  let run () =
    match run f with
    | () -> Promise.fill ended ()
    | exception e -> Promise.fail ended e
  in
  let domain = Domain.spawn run in
  let* () = A.to_deferred ended in
  Domain.join domain;
  Deferred.return ()

let pooled f =
  Check.domain (fun () ->
      let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
      Domainslib.Task.run pool (fun () ->
          Domainslib.Task.await pool (Domainslib.Task.async pool f));
      Domainslib.Task.teardown_pool pool)

let wakers = [ ("Domainslib", pooled) ]
