(* A few waits, each of which ends without help, for any place where a task may wait. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let waits_once v =
  Suspend.suspend (fun resume ->
      yes "resumed" (resume (Ok v));
      None)

(* Waits that another thread ends. *)
let waits () =
  let p = Promise.create () in
  let join = thread (fun () -> Promise.fill p 1) in
  int "value" 1 (Promise.await p);
  join ();
  yes "timeout" (Event.sync_before 0.001 Event.never = (None : unit option));
  no "cancelled" (Suspend.is_cancelled ());
  int "protected" 2 (Suspend.protect (fun () -> waits_once 2))
