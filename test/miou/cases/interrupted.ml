(* Signal handlers that raise while tasks wait for each other. *)

open Concord
open Concord_test_support.Check

exception Tick

let set_timer seconds =
  let timer = Unix.{ it_interval = 0.; it_value = seconds } in
  ignore (Unix.setitimer ITIMER_REAL timer : Unix.interval_timer_status)

(* Two tasks that end only if the exception is raised in one of them or in Miou's loop. In both
   cases the run is over. The timer is set when [Miou.await_first] waits, because Miou 0.7.0
   turns the exception into an [Assert_failure] in its own code. *)
let until_the_tick seconds =
  let box = Mvar.create_empty () in
  let rec put () =
    Mvar.put box 1;
    put ()
  and take () =
    ignore (Mvar.take box : int);
    take ()
  in
  let begin_ () =
    for _ = 1 to 3 do
      Miou.yield ()
    done;
    set_timer seconds;
    put ()
  in
  In_miou.run_on 0 @@ fun () ->
  match Miou.await_first [ Miou.async begin_; Miou.async take ] with
  | Ok () -> Alcotest.fail "the tasks return"
  | Error e -> raise e

(* No exception is lost, whatever it interrupts. This may be the porter, a wait that has just
   ended, or Miou itself. *)
let ends () =
  let handle = Sys.Signal_handle (fun _ -> raise Tick) in
  let before = Sys.signal Sys.sigalrm handle in
  let finally () =
    set_timer 0.;
    Sys.set_signal Sys.sigalrm before
  in
  Fun.protect ~finally @@ fun () ->
  for i = 1 to 300 do
    raises "the run" Tick (fun () ->
        until_the_tick (0.0005 +. (float_of_int (i mod 97) *. 0.00003)))
  done

let suites = [ ("signal handlers that raise", [ test "it is raised" ends ]) ]
