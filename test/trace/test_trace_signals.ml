(* Signal handlers that raise while something is told. *)

open Concord
open Concord_test_support

exception Interrupt

(* What they raise comes out as it is. *)
let as_it_is () =
  Trace.start ();
  let count = ref 0 and until = Unix.gettimeofday () +. 2. in
  Interrupting.run ~by:Interrupt ~count (fun () ->
      while Unix.gettimeofday () < until do
        Concord__Tracing.queue "told again and again" 1
      done);
  Trace.stop ();
  Check.yes (Printf.sprintf "%d interruptions" !count) (!count > 0)

let () =
  Check.run "Trace, signals"
    [ ("handlers", Interrupting.only (Check.test "raise" as_it_is)) ]
