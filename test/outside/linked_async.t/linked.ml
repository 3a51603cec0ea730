(* concord-async is among the libraries, but no line names it. *)

open! Core
open Async

let job () =
  (match Concord.Mvar.take (Concord.Mvar.create_empty ()) with
  | () -> print_endline "a value from nowhere"
  | exception e -> print_endline (Stdlib.Printexc.exn_slot_name e));
  shutdown 0

let () =
  upon (Deferred.return ()) job;
  never_returns (Scheduler.go ())
