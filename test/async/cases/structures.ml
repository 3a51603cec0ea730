(* What is special to Async. [In_async] has the cases of every library of promises, [Scopes] those
   of every host, and [As_host] the contract. *)

open Concord
open Concord_test_support
open Check
open In_async

(* --- Other threads -------------------------------------------------------- *)

let invalid = function Invalid_argument _ -> true | _ -> false

let refused what f =
  match f () with
  | (_ : _ Deferred.t) -> Some (what ^ ": it did not raise")
  | exception e when invalid e -> None
  | exception e -> Some (what ^ ": " ^ Printexc.to_string e)

(* [Threads] has the operations that are refused on every library of promises. *)
let foreign run () =
  let mutex = Mutex.create () and closed = Mailbox.create () in
  Mailbox.close closed;
  let complaints =
    run @@ fun () ->
    List.filter_map
      (fun (what, f) -> refused what f)
      [
        ("with_lock", fun () -> A.Mutex.with_lock mutex Deferred.return);
        ( "of_deferred",
          fun () ->
            ignore (A.of_deferred (Deferred.never ()) : unit Promise.t);
            Deferred.return () );
      ]
    @
    match (A.Mailbox.take closed : unit Deferred.t) with
    | _ -> [ "a failure is not raised" ]
    | exception Mailbox.Closed -> []
    | exception e -> [ Printexc.to_string e ]
  in
  strings "complaints" [] complaints;
  yes "unlocked" (Mutex.try_lock mutex)

(* --- Promises ------------------------------------------------ *)

let of_deferred () =
  async @@ fun () ->
  let ivar = Async.Ivar.create () in
  let p = A.of_deferred (Async.Ivar.read ivar) in
  let got = ref 0 in
  let awaited = in_domain Concord_fifo.run (fun () -> got := Promise.await p) in
  Async.Ivar.fill_exn ivar 7;
  let* () = awaited in
  int "value" 7 !got;
  Deferred.return ()

let run () =
  run "concord-async"
    ([ Cases.waiting wakers; Cases.results ]
    @ Jobs.tests @ Flows.tests @ Choices.tests @ Backtraces.suites
    @ Scopes.suites @ Storage.suites @ Spins.suites
    @ [
        ( "other threads",
          [
            test "of_deferred" of_deferred;
            test "another domain" (foreign Check.in_domain);
            test "another thread"
              (foreign (fun f -> async (fun () -> Async.In_thread.run f)));
          ] );
      ]
    @ Many.tests)
