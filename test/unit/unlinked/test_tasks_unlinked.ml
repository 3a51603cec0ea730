open Concord_test_support
open Concord_test_hosts
open Check
open Tasks_cases

let () =
  run "Tasks, without concord-eio"
    (List.map everywhere places
    @ List.map
        (fun (name, place) ->
          Tasks_first.everywhere (name ^ ": first, timeouts, lists", place))
        places
    @ List.map Tasks_begun.everywhere places
    @ [
        Tasks_begun.take_no_notice "Eio" (Cancelling.eio ~protects:false);
        Tasks_cancelled.from_outside "Eio" (Cancelling.eio ~protects:false);
        ("beside others", [ test "Eio" (beside_others both_in_eio) ]);
      ])
