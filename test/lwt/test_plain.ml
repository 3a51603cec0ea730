(* Direct style under Lwt_main.run, which this library only knows through its hooks. *)

open Concord
open Concord_test_support
open Concord_test_hosts
open Check
open Lwt.Syntax

let plain f = Lwt_main.run (f ())

(* --- Plain callbacks ------------------------------------------------------ *)

module Callbacks = Promise_callbacks.Make (In_lwt.Plain) ((val In_lwt.refusal))

let refused = Callbacks.cannot_wait

let everywhere () =
  let in_hook = ref (fun () -> ()) in
  let call () = !in_hook () in
  let enter = Lwt_main.Enter_iter_hooks.add_last call
  and leave = Lwt_main.Leave_iter_hooks.add_first call in
  plain (fun () ->
      let* () = Lwt.pause () in
      refused "after a pause";
      let* () = Lwt_unix.sleep 0.001 in
      refused "after a timer";
      let input, output = Lwt_unix.pipe () in
      let* (_ : int) = Lwt_unix.write_string output "." 0 1 in
      let* () = Lwt_unix.wait_read input in
      refused "after input";
      let* () = Lwt_unix.close input in
      let* () = Lwt_unix.close output in
      let box = Mvar.create_empty () in
      let taken = Concord_lwt.Mvar.take box in
      in_domain (fun () -> Mvar.put box ());
      let* () = taken in
      refused "after an operation";
      let seen = ref 0 in
      (in_hook :=
         fun () ->
           incr seen;
           refused "in a hook");
      let* () = Lwt.pause () in
      let+ () = Lwt.pause () in
      in_hook := ignore;
      yes "the hooks were called" (!seen >= 2));
  Lwt_main.Enter_iter_hooks.remove enter;
  Lwt_main.Leave_iter_hooks.remove leave

(* A handler that runs while the loop sleeps, and a finaliser. *)
let signal_handler () =
  plain @@ fun () ->
  let signal = Sys.sigusr1 in
  let handled = ref false in
  let handle _ =
    refused "a signal handler";
    handled := true
  in
  let before = Sys.signal signal (Signal_handle handle) in
  let* () = Lwt.pause () in
  Unix.kill (Unix.getpid ()) signal;
  let* () = Lwt_unix.sleep 0.001 in
  Sys.set_signal signal before;
  yes "handled" !handled;
  let finalised = ref false in
  let finalise _ =
    refused "a finaliser";
    finalised := true
  in
  Gc.finalise finalise (ref 0);
  Gc.full_major ();
  Gc.full_major ();
  yes "finalised" !finalised;
  Lwt.return_unit

(* The message names the call that the program has made, even if it is that of a library. *)
let outermost () =
  let says name wait =
    raises name Concord_lwt.In_callback (fun () ->
        ignore (Sys.opaque_identity (wait ())));
    let text = Printexc.to_string Concord_lwt.In_callback in
    let call =
      Printf.sprintf "refused last is %s, at test/lwt/test_plain.ml:" name
    in
    yes
      (name ^ ": " ^ text)
      (contains text call
      && contains text "Call it in Concord_lwt.direct"
      && not (contains text "instead"))
  in
  Concord_lwt.run @@ fun () ->
  let* () = Lwt.pause () in
  says "A_library.get" (fun () -> A_library.get () + 1);
  says "A_library.get_in_time" (fun () ->
      Option.get (A_library.get_in_time ()) + 1);
  says "Blocking.run" (fun () ->
      1
      + Blocking.run (fun () ->
          Unix.sleepf 0.01;
          1));
  says "Tasks.map" (fun () -> List.length (Tasks.map Tasks.sleep [ 1.; 2. ]));
  Lwt.return_unit

(* --- Tasks ---------------------------------------------------------------- *)

(* This happens in the very first turn, and nothing else wakes the loop. *)
let first_task () =
  let start = Unix.gettimeofday () in
  let box = Mvar.create_empty () in
  let join = Check.domain (fun () -> Mvar.put box 1) in
  int "the value" 1
    (plain (fun () -> Lwt_direct.spawn (fun () -> Mvar.take box)));
  join ();
  yes "at once" (Unix.gettimeofday () -. start < 30.)

(* The task fulfils the loop's promise just before the loop would sleep. It was woken by the
   loop's own code, or it never waited. *)
let last_promise () =
  let start = Unix.gettimeofday () in
  let v =
    Lwt_main.run
      (let box = Mvar.create_empty () in
       let task = Lwt_direct.spawn (fun () -> Mvar.take box) in
       let* () = Lwt.pause () in
       int "it waits" 1 (Mvar.waiters box);
       let* () = Concord_lwt.Mvar.put box 1 in
       task)
  in
  int "the value" 1 v;
  int "the value" 2 (Lwt_main.run (Lwt_direct.spawn (fun () -> 2)));
  let task =
    Lwt_direct.spawn (fun () ->
        Lwt_direct.yield ();
        3)
  in
  int "the value" 3 (Lwt_main.run task);
  yes "at once" (Unix.gettimeofday () -. start < 30.)

(* --- Where no loop is ------------------------------------------------------ *)

let waits () =
  let box = Mvar.create_empty () in
  let join = Check.domain (fun () -> Mvar.put box 3) in
  int "the value" 3 (Mvar.take box);
  join ()

(* Before and after a loop, however it ended, a thread waits like any other thread. *)
let outside () =
  waits ();
  plain Lwt.pause;
  waits ();
  raises "what fails" Exit (fun () ->
      plain (fun () -> Lwt.bind (Lwt.pause ()) (fun () -> raise Exit)));
  waits ();
  let hook = ref None in
  hook := Some (Lwt_main.Enter_iter_hooks.add_last (fun () -> raise Exit));
  raises "what a hook raises" Exit (fun () -> plain Lwt.pause);
  Option.iter Lwt_main.Enter_iter_hooks.remove !hook;
  waits ();
  in_thread waits;
  in_domain waits

(* This is also true beside a loop. *)
let beside () =
  plain @@ fun () ->
  let* () = Lwt.pause () in
  in_thread waits;
  in_domain waits;
  refused "here";
  Lwt.return_unit

(* In one thread and then in another, any number of times. *)
let one_after_the_other () =
  let each run =
    let body () =
      run (fun () ->
          let* () = Lwt.pause () in
          refused "in the loop";
          let box = Mvar.create_empty () in
          let task = Lwt_direct.spawn (fun () -> Mvar.take box) in
          let* () = Concord_lwt.Mvar.put box 1 in
          let+ v = task in
          int "the value" 1 v);
      waits ()
    in
    body ();
    in_thread body;
    in_domain body;
    body ()
  in
  List.iter each [ plain; Concord_lwt.run; plain ]

(* A hook of the program that comes after the library's own is called between two turns. *)
let between_turns () =
  let box = Mvar.create_empty () and got = ref 0 in
  let take_once () =
    if !got = 0 then begin
      let put () =
        eventually "it waits" (fun () -> Mvar.waiters box = 1);
        Mvar.put box 5
      in
      let join = thread put in
      got := Mvar.take box;
      join ()
    end
  in
  let hook = Lwt_main.Leave_iter_hooks.add_last take_once in
  Fun.protect
    (fun () -> plain Lwt.pause)
    ~finally:(fun () -> Lwt_main.Leave_iter_hooks.remove hook);
  int "the value" 5 !got

let () =
  Check.run "Concord_lwt, under Lwt_main.run"
    [
      ( "plain callbacks",
        [
          test "in every place where Lwt calls a function" everywhere;
          test "a signal handler, a finaliser" signal_handler;
          test "the message names the outermost call" outermost;
        ] );
      ( "tasks of Lwt_direct",
        [
          test "the first of the program" first_task;
          test "that ends the last promise" last_promise;
        ] );
      Wait_cases.on Lwt_hosts.(lwt_direct lwt_main);
      ( "elsewhere",
        [
          test "a thread waits before and after" outside;
          test "and beside" beside;
          test "and between two turns" between_turns;
          test "one loop after the other" one_after_the_other;
        ] );
    ]
