(* A failure fails the deferred, and nothing else. *)

open Concord
open Concord_test_support
open Check
open Wakers
module Monitor = Async.Monitor
module Scheduler = Async.Scheduler

exception Refused

let failure f =
  Deferred.map (Monitor.try_with ~run:`Now ~rest:`Raise f) ~f:(function
    | Ok _ -> Alcotest.fail "it did not fail"
    | Error e -> e)

let fails what expected f =
  let* e = failure f in
  yes what (Monitor.extract_exn e = expected);
  Deferred.return ()

let closed_before () =
  async @@ fun () ->
  let m = Mailbox.create () in
  Mailbox.close m;
  let not_raised = ref false in
  let* () =
    fails "closed" Mailbox.Closed (fun () ->
        let t : unit Deferred.t = A.Mailbox.take m in
        not_raised := true;
        t)
  in
  yes "the call does not raise" !not_raised;
  Deferred.return ()

let closed_while_waiting () =
  async @@ fun () ->
  let m = Mailbox.create () in
  let failed =
    fails "closed" Mailbox.Closed (fun () ->
        (A.Mailbox.take m : unit Deferred.t))
  in
  let* () = in_domain Concord_fifo.run (fun () -> Mailbox.close m) in
  failed

let[@inline never] refuse () = if Random.bits () >= 0 then raise Refused

(* The backtrace comes from another domain, and shows where the exception was raised. *)
let backtrace () =
  async @@ fun () ->
  let p : unit Promise.t = Promise.create () in
  let failed = failure (fun () -> A.Promise.await p) in
  let fail () =
    Printexc.record_backtrace true;
    try refuse () with e -> Promise.fail p e
  in
  let* () = in_domain Concord_fifo.run fail in
  let* e = failed in
  let text = Printexc.to_string e in
  yes "Refused" (Monitor.extract_exn e = Refused);
  if not (contains text "refuse") then Alcotest.failf "no place in %s" text;
  Deferred.return ()

let direct_fails () =
  async @@ fun () ->
  let p = Promise.create () in
  let failed =
    fails "direct" Refused (fun () ->
        A.direct (fun () ->
            Promise.await p;
            refuse ()))
  in
  Promise.fill p ();
  let* () = failed in
  fails "at once" Refused (fun () -> A.direct refuse)

let unlocks what f =
  let m = Mutex.create () in
  let* () = fails what Refused (fun () -> A.Mutex.with_lock m f) in
  yes (what ^ ": unlocked") (Mutex.try_lock m);
  Deferred.return ()

let with_lock_fails () =
  async @@ fun () ->
  let* () = unlocks "raises" (fun () -> raise Refused) in
  let* () =
    unlocks "raises later" (fun () ->
        let* () = Scheduler.yield () in
        raise Refused)
  in
  let* () =
    unlocks "in an operation" (fun () ->
        let p = Promise.create () in
        Promise.fail p Refused;
        A.Promise.await p)
  in
  let l = Rwlock.create () in
  let* () =
    fails "write" Refused (fun () -> A.Rwlock.write l (fun () -> raise Refused))
  in
  yes "write: unlocked" (Rwlock.try_write_lock l);
  Deferred.return ()

let tests =
  [
    ( "failures",
      [
        test "closed before" closed_before;
        test "closed while it waits" closed_while_waiting;
        test "backtrace" backtrace;
        test "direct" direct_fails;
        test "with_lock unlocks" with_lock_fails;
      ] );
  ]
