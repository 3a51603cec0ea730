open Concord_test_support.Check

(* Without the plug-in, Concord learns of Eio's cancellation only when the fiber runs. *)
let cancelled_too_late () =
  int "it was given the value" 3 (Eio_cases.cancelled_then_resumed ())

let () =
  run "Eio, without concord-eio"
    (Eio_cases.suites
    @ [
        ( "without plug-in",
          [
            test "cancelled, then put: it has the value"
              (Eio_cases.main cancelled_too_late);
          ] );
      ])
