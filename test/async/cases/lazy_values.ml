(* Lazy values that tasks of Async share with tasks of other hosts. *)

open Concord
open Concord_test_support
open Check
open Wakers
open Failures
module Scheduler = Async.Scheduler

(* Async computes while another domain waits. *)
let computed_here () =
  async @@ fun () ->
  let go = Promise.create () and got = Atomic.make 0 in
  let t = Lazy.from_fun (fun () -> Promise.await go) in
  let forced = A.Lazy.force t in
  let other =
    in_domain Concord_fifo.run (fun () -> Atomic.set got (Lazy.force t))
  in
  let rec until_it_waits () =
    if Lazy.waiters t > 0 then Deferred.return ()
    else
      let* () = Scheduler.yield () in
      until_it_waits ()
  in
  let* () = until_it_waits () in
  Promise.fill go 3;
  let* v = forced in
  let* () = other in
  int "here" 3 v;
  int "there" 3 (Atomic.get got);
  Deferred.return ()

(* One value for tasks of all hosts, that is, those of [Wakers], of Lwt and of Async. *)
let shared () =
  async @@ fun () ->
  let go = Promise.create () and runs = Atomic.make 0 and sum = Atomic.make 0 in
  let t =
    Lazy.from_fun (fun () ->
        Atomic.incr runs;
        Promise.await go)
  in
  let add v = ignore (Atomic.fetch_and_add sum v : int) in
  let lwt () =
    in_thread (fun () ->
        Concord_lwt.(run (fun () -> Lwt.map add (Lazy.force t))))
  in
  let here () = Deferred.map (A.Lazy.force t) ~f:add in
  let direct (name, waker) () =
    if name = "a job of Async" then A.direct (fun () -> add (Lazy.force t))
    else waker (fun () -> add (Lazy.force t))
  in
  let hosts = lwt :: here :: List.map direct wakers in
  let all = List.map (fun force -> force ()) hosts in
  let rec until_they_wait () =
    if Lazy.waiters t + 1 = List.length hosts then Deferred.return ()
    else
      let* () = Scheduler.yield () in
      until_they_wait ()
  in
  let* () = until_they_wait () in
  Promise.fill go 3;
  let* () = Deferred.all_unit all in
  int "runs" 1 (Atomic.get runs);
  int "each task has the value" (3 * List.length hosts) (Atomic.get sum);
  Deferred.return ()

(* Another domain computes while Async waits. *)
let computed_there () =
  async @@ fun () ->
  let begun = Promise.create () and go = Promise.create () in
  let t =
    Lazy.from_fun (fun () ->
        Promise.fill begun ();
        Promise.await go;
        raise Refused)
  in
  let force () = try Lazy.force t with Refused -> () in
  let other = in_domain (fun f -> Eio_main.run (fun _ -> f ())) force in
  let* () = A.Promise.await begun in
  let failed = fails "lazy" Refused (fun () -> A.Lazy.force t) in
  int "waits" 1 (Lazy.waiters t);
  Promise.fill go ();
  let* () = failed in
  other
