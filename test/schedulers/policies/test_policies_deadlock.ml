(* The scheduler notices that nothing is left that could resume a task. No other thread may run
   here, so the watchdog is an alarm. *)

open Concord
open Concord_policies

let int what = Alcotest.(check int) what

let never_resumed f =
  match f () with
  | () -> Alcotest.fail "no deadlock was reported"
  | exception Tools.Suspend.Never_resumed -> ()

(* Protected tasks are unwound too, because they would wait forever. *)
let all_are_unwound () =
  let ended = ref 0 in
  let wait () =
    match Event.sync Event.never with
    | () -> ()
    | exception e ->
        incr ended;
        raise e
  in
  never_resumed (fun () ->
      Levels.run (fun () ->
          ignore (Tasks.both wait (fun () -> Tasks.protect wait) : unit * unit)));
  int "have ended" 2 !ended

let not_while_a_timeout_is_pending () =
  Lifo.run (fun () -> Tasks.sleep 0.01);
  never_resumed (fun () ->
      Lifo.run (fun () ->
          Tasks.sleep 0.01;
          Event.sync Event.never))

let () =
  Concord_test_proc.program "deadlocks of policies" @@ fun () ->
  ignore (Unix.alarm 60 : int);
  let test name f = Alcotest.test_case name `Quick f in
  Alcotest.run "Policies, deadlock"
    [
      ( "deadlock",
        [
          test "all are unwound" all_are_unwound;
          test "a pending timeout" not_while_a_timeout_is_pending;
        ] );
    ]
