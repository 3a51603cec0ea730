(* Scopes, [both], [all] and [yield] in tasks of schedulers whose plug-ins don't say how
   tasks are started. *)

open Concord_test_support
open Concord_test_hosts
open Check
open Tasks_cases

module T =
  Foreign.Make
    (struct
      let name = "t"
      let takes_every_effect = true
    end)
    ()

module A =
  Foreign.Make
    (struct
      let name = "a"
      let takes_every_effect = false
    end)
    ()

let result run f =
  let result = ref None in
  run (fun () ->
      result :=
        Some
          (match f () with
          | v -> Ok v
          | exception e -> Error (e, Printexc.get_raw_backtrace ())));
  match Option.get !result with
  | Ok v -> v
  | Error (e, backtrace) -> Printexc.raise_with_backtrace e backtrace

let both_in run all f g = result run (fun () -> all [ f; g ])

let () =
  run "Tasks, with plug-ins"
    [
      everywhere ("a", result A.run);
      everywhere ("a, registered", result A.run_registered);
      everywhere ("takes every effect", result T.run);
      everywhere ("takes every effect, registered", result T.run_registered);
      everywhere ("Fifo", fifo);
      everywhere ("Eio", eio);
      everywhere ("thread", in_thread);
      everywhere ("Fifo in a", within (result A.run) fifo);
      everywhere ("a in Fifo", within fifo (result A.run_registered));
      everywhere
        ("Fifo in a host that takes every effect", within (result T.run) fifo);
      Tasks_first.everywhere ("a: first, timeouts, lists", result A.run);
      Tasks_first.everywhere
        ("takes every effect: first, timeouts, lists", result T.run);
      Tasks_cancelled.from_outside "a" A.cancelling;
      Tasks_cancelled.from_outside "takes every effect" T.cancelling;
      ( "beside others",
        [
          test "a" (beside_others (both_in A.run A.all));
          test "takes every effect" (beside_others (both_in T.run T.all));
        ] );
    ]
