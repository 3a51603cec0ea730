(* A signal handler has to wait while Async sleeps, in a plain Scheduler.go. *)

open Concord
open Concord_test_support
module A = Concord_async

let scheduler = Thread.id (Thread.self ())
let refused = Atomic.make 0
let elsewhere = Atomic.make 0

(* In another thread it could wait. *)
let handle _ =
  if Thread.id (Thread.self ()) <> scheduler then Atomic.incr elsewhere
  else
    match Mvar.take (Mvar.create_empty ()) with
    | () -> Race.fail "it took nothing"
    | exception A.In_job -> Atomic.incr refused

let signals = 20

let rec kill n =
  if n > 0 then begin
    let handled () = Atomic.get refused + Atomic.get elsewhere in
    let before = handled () in
    Unix.kill (Unix.getpid ()) Sys.sigusr1;
    Check.eventually "it is handled" (fun () -> handled () > before);
    kill (n - 1)
  end

let run () =
  Race.watchdog ~seconds:60.;
  Sys.set_signal Sys.sigusr1 (Signal_handle handle);
  let killer () =
    ignore (Thread.sigmask SIG_BLOCK [ Sys.sigusr1 ] : int list);
    kill signals;
    (* Async still runs. *)
    let woken = Promise.await (A.post (fun () -> Async.return 1)) in
    if woken <> 1 then Race.fail "it was not woken";
    if Atomic.get refused = 0 then Race.fail "no signal was handled in Async";
    Promise.await
      (A.post (fun () ->
           Async.shutdown 0;
           Async.return ()))
  in
  (* Async sleeps, after its code has used Concord_async. *)
  Async.upon (A.sync (Event.always ())) (fun () -> ());
  Async.upon
    (A.sync (Event.timeout 0.001))
    (fun () -> ignore (Thread.create killer () : Thread.t));
  Core.never_returns (Async.Scheduler.go ())
