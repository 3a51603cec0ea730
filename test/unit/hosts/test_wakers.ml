(* A program without other threads, so it has no watchdog. An alarm ends it if it hangs. *)

open Concord
open Concord.Tools

let expect what expected ~asleep =
  if Host_kit.may_be_woken ~asleep <> expected then begin
    Printf.printf "may_be_woken: %s: not %b\n" what expected;
    exit 1
  end

(* A system thread still exists for a moment after it was joined. *)
let rec eventually_not ~asleep =
  if Host_kit.may_be_woken ~asleep then begin
    Unix.sleepf 0.001;
    eventually_not ~asleep
  end

let alone what = expect what false ~asleep:0
let not_alone what = expect what true ~asleep:0

let with_another spawn join =
  let go_on = Promise.create () in
  let other = spawn (fun () -> Promise.await go_on) in
  not_alone "another thread or domain";
  Promise.fill go_on ();
  join other;
  eventually_not ~asleep:0

let in_threads () =
  let go_on = Promise.create () in
  let threads = List.init 3 (Thread.create (fun _ -> Promise.await go_on)) in
  expect "three threads, of which two sleep" true ~asleep:2;
  expect "three threads, which sleep" false ~asleep:3;
  Promise.fill go_on ();
  List.iter Thread.join threads;
  eventually_not ~asleep:0

let in_scheduler () =
  not_alone "in a scheduler";
  Promise.await (Concord_fifo.fork_promise (fun () -> not_alone "in a task"))

let () =
  ignore (Unix.alarm 60 : int);
  if not Concord_test_proc.is_there then not_alone "where it is not known";
  Concord_test_proc.program "who may wake" (fun () ->
      alone "at first";
      with_another (fun f -> Thread.create f ()) Thread.join;
      in_threads ();
      Concord_fifo.run in_scheduler;
      alone "after a scheduler";
      let forget = Concord__core__Timer.after 100. ignore in
      not_alone "a timeout is pending";
      forget ();
      alone "after a timeout";
      with_another Domain.spawn Domain.join;
      alone "after a domain")
