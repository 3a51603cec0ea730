(* One suite for each signature, run for each style. *)

open Concord_test_support
open Styles_cases

(* System threads are switched at any time. Here a thread is stopped while it checks whether it
   has to wait, and it finds a value. *)
let stopped_while_it_takes () =
  let stopped = ref false and begun = ref false and got = ref 0 in
  let open Concord_styles.Threads in
  spawn (fun () ->
      got :=
        Concord.Tools.Suspend.suspend (fun _ ->
            begun := true;
            while not !stopped do
              Thread.yield ()
            done;
            Some 7));
  spawn (fun () ->
      while not !begun do
        yield ()
      done;
      Fun.protect stop ~finally:(fun () -> stopped := true));
  start ();
  Check.int "not lost" 7 !got

let exceptions_printed () =
  Check.named "Ended" "Concord_styles.Ended" Concord_styles.Ended;
  Check.yes "a cancellation"
    (Concord.Tasks.is_cancellation Concord_styles.Ended);
  Check.named "Deadlock" "Concord_styles.Deadlock" (Concord_styles.Deadlock 2)

let () =
  Check.run "Styles"
    (List.map
       (fun (module S : Style.S) ->
         let module Cases = Style_cases.Make (S) in
         let module Moving = Moving.Make (S) in
         (S.name, Cases.cases @ Moving.cases))
       Style.all
    @ List.map Direct_cases.suite Style.direct
    @ [
        ( "Threads, at any time",
          [ Check.test "stopped while it takes" stopped_while_it_takes ] );
        ("exceptions", [ Check.test "how they are printed" exceptions_printed ]);
      ]
    @ Indirect_cases.suites
    @ List.map Nested.suite Style.all)
