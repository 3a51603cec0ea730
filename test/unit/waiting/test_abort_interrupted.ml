(* Signal handlers that raise while what a choice did not perform is told so. *)

open Concord
open Concord_test_support
open Check

exception Interrupt

(* [f] from the beginning after each exception. One that comes too late for a thread, as it
   was resumed already, may be dropped, and then no more come in this turn. *)
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

(* If one has run, all have. *)
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
    [ ("at any moment", [ test "all are told, or none" aborts ]) ]
