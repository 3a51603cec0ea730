let max_frames = 20

(* It does not end in a call, before which the compiler would put a polling point: handlers
   that have been given a continuation ask this. *)
let[@inline] are_observed () =
  Sys.opaque_identity (Waits.are_kept () || Tracing.is_on ())

let here () = Printexc.get_callstack max_frames

(* Whatever a signal handler raises while this is noted, the task runs: others may wait for
   what it does. The exception comes in the thread's next wait. *)
let note ~at ~parent ~ask =
  if Waits.are_kept () then
    try Task_id.forked (ask ()) ~parent ~at
    with e -> Late.keep e (Printexc.get_raw_backtrace ())

let run ~at ~parent ~ask f =
  note ~at ~parent ~ask;
  if Tracing.is_on () then Tracing.forked ~parent ~at:(Call_site.line at) ~ask f
  else f ()
