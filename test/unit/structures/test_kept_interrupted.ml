(* Signal handlers raise at any moment while waits are kept for the debugger. An operation
   must have happened completely or not at all. The other tests of this kind are in
   [test/unit/interrupted]. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

exception Interrupt

(* Calls [make] repeatedly. It returns an operation and a check that must hold after it,
   whether it was interrupted or not. *)
let often make () =
  let count = ref 0 in
  while !count < 500 do
    let calls = ref 0 in
    Interrupting.run ~by:Interrupt ~count (fun () ->
        while !calls < 2_000 do
          incr calls;
          let wake, check = make () in
          match wake () with
          | () -> check ()
          | exception e ->
              check ();
              raise e
        done)
  done

(* Doesn't use Alcotest's checks. They format each time, and an exception of a handler would
   be wrapped there. *)
let is_full t = if Mvar.try_read t = None then Alcotest.fail "the box is held"

(* No other task uses the box. *)
let alone use () =
  let t = Mvar.create 0 in
  ((fun () -> use t), fun () -> is_full t)

let increment v = (v + 1, ())
let modify_alone = alone (fun t -> Mvar.modify t increment)
let modify_evt t = Event.sync (Mvar.modify_evt t increment)

(* From here on, waits are kept as in a debugged program. *)
let kept make () =
  Debug.keep_waits ();
  often make ()

let () =
  run "interrupted, while waits are kept"
    [
      ( "Mvar",
        List.concat_map
          (fun (what, make) -> Interrupting.only (test what (kept make)))
          [
            ("a modification", modify_alone);
            ("a modification, as an event", alone modify_evt);
          ] );
    ]
