(* Signal handlers raise while a choice aborts the alternatives that it hasn't performed. *)

open Concord
open Concord_test_support
open Check

exception Interrupt

(* Restarts [f] after each exception. An exception that comes too late, because the thread
   was already resumed, may be dropped. Then no more come in this turn, so this repeats. *)
let often f =
  let count = ref 0 in
  while !count < 500 do
    let calls = ref 0 in
    Interrupting.run ~by:Interrupt ~count (fun () ->
        while !calls < 5_000 do
          incr calls;
          f ()
        done)
  done

(* If one of the functions has run, all must have run. *)
let aborts () =
  let ran = Array.make 5 0 in
  let abort i = Event.wrap_abort Event.never (fun () -> ran.(i) <- ran.(i) + 1)
  and undo i =
    Event.wrap_withdraw Event.never (fun () -> ran.(i) <- ran.(i) + 1)
  in
  let others = [ abort 0; undo 1; abort 2; undo 3; abort 4 ] in
  often (fun () -> Event.select (Event.always () :: others));
  often (fun () -> Event.select (Interrupting.passes :: others));
  often (fun () -> ignore (Event.poll (Event.choose others) : unit option));
  Array.iter (int "each as often as the first" ran.(0)) ran

let () =
  run "Event: aborts, interrupted"
    [ ("at any moment", [ test "all functions run, or none" aborts ]) ]
