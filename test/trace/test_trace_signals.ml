(* Signal handlers that raise while an event is emitted. *)

open Concord.Tools
open Concord_test_support

exception Interrupt

(* The handler's exception comes out unchanged. *)
let as_it_is () =
  Trace.start ();
  let count = ref 0 and until = Unix.gettimeofday () +. 2. in
  Interrupting.run ~by:Interrupt ~count (fun () ->
      while Unix.gettimeofday () < until do
        Concord__diagnosis.Tracing.queue "told again and again" 1
      done);
  Trace.stop ();
  Check.yes (Printf.sprintf "%d interruptions" !count) (!count > 0)

(* The function that identifies the waker raises. The resumer's answer still counts, and the
   exception comes later. *)
let the_answer_counts () =
  Trace.start ();
  let answer = ref None in
  let suspend block = Option.value (block (fun _ -> true)) ~default:42 in
  let value =
    Concord__diagnosis.Tracing.during
      ~who:(Concord__core__Who_is.this_thread ())
      ~ask:(fun () -> raise Interrupt)
      [] suspend
      (fun resumer ->
        answer := Some (resumer (Ok 1));
        None)
  in
  Trace.stop ();
  Check.int "the wait" 42 value;
  Check.yes "the resumer's answer" (!answer = Some true);
  Check.raises "later" Interrupt Concord__core__Late.raise_kept

(* The first signal starts the trace, and the second one stops it. After that, suspensions no
   longer check for a trace. *)
let started_by_a_signal () =
  let signal = Sys.sigusr2 in
  let takes_slow_path () = Concord__core__Observer.takes_slow_path () in
  let before = takes_slow_path () and self = Unix.getpid () in
  Trace.on_signal signal;
  Check.no "not yet" (Trace.is_on ());
  Unix.kill self signal;
  Check.eventually "on" Trace.is_on;
  Check.yes "suspensions check" (takes_slow_path ());
  Unix.kill self signal;
  Check.eventually "off" (fun () -> not (Trace.is_on ()));
  Check.yes "as before" (takes_slow_path () = before);
  Sys.set_signal signal Signal_default

let () =
  Check.run "Trace, signals"
    [
      ("handlers", Interrupting.only (Check.test "raise" as_it_is));
      ("on_signal", [ Check.test "on and off" started_by_a_signal ]);
      ("wakers", [ Check.test "the answer counts" the_answer_counts ]);
    ]
