(* Reports and traces name the line of the program that waits. If the library is compiled for
   release, the innermost frame of that line's call is often inlined code of the library, so
   ./dev test --installed runs these tests too. *)

open Concord
open Concord.Tools
open Concord_test_support
module Fifo = Concord_fifo

let box : int Mvar.t = Mvar.create_empty ()
let lock = Mutex.create ()
let filled : unit Promise.t = Promise.create ()
let room = Semaphore.Counting.make 0
let stream : int Stream.t = Stream.create 1
let here (_, line, _, _) = line

(* Each function waits in the line of its [__POS__]. The result is used, so no call is the last
   of its function. *)

let take () =
  let line = here __POS__ and v = Mvar.take box in
  v + line

let protect () =
  let line = here __POS__ and v = Mutex.protect lock (fun () -> 1) in
  v + line

let await () =
  let line = here __POS__ and () = Promise.await filled in
  1 + line

let acquire () =
  let line = here __POS__ and () = Semaphore.Counting.acquire room in
  1 + line

let read () =
  let line = here __POS__ and v = Stream.take stream in
  v + line

let sleep () =
  let line = here __POS__ and () = Event.sync (Event.timeout 0.2) in
  1 + line

let waits =
  [
    ("Mvar.take", take);
    ("Mutex.lock", protect);
    ("Promise.await", await);
    ("Semaphore.Counting.acquire", acquire);
    ("Stream.take", read);
    ("Event.timeout", sleep);
  ]

let of_report () =
  let site (wait : Debug.wait) =
    let operation = (List.hd wait.targets).operation in
    let slots = Option.get (Printexc.backtrace_slots wait.waits_at) in
    let of_test slot =
      match Printexc.Slot.location slot with
      | Some { filename; line_number; _ }
        when Filename.basename filename = "test_call_sites.ml" ->
          Some line_number
      | Some _ | None -> None
    in
    (operation, Option.get (List.find_map of_test (Array.to_list slots)))
  in
  List.map site (Debug.report ()).waits

let of_trace = ref []

let traced (_ : int) (_ : Runtime_events.Timestamp.t) = function
  | Trace.Suspended { operation; at; _ } ->
      of_trace := (operation, at) :: !of_trace
  | _ -> ()

let run () =
  Debug.keep_waits ();
  Runtime_events.start ();
  let cursor = Runtime_events.create_cursor None in
  let callbacks = Trace.add_to (Runtime_events.Callbacks.create ()) traced in
  Trace.start ();
  let found =
    Fifo.run @@ fun () ->
    Mutex.lock lock;
    let expected = ref [] in
    let start (name, wait) =
      Fifo.fork (fun () ->
          let line = wait () - 1 in
          expected := (name, line) :: !expected)
    in
    let tasks = List.map start waits in
    let reported = of_report () in
    Mutex.unlock lock;
    Mvar.put box 1;
    Promise.fill filled ();
    Semaphore.Counting.release room;
    Stream.add stream 1;
    List.iter Fifo.join tasks;
    (reported, !expected)
  in
  Trace.stop ();
  ignore (Runtime_events.read_poll cursor callbacks None : int);
  found

let sites = Alcotest.(slist (pair string int) Stdlib.compare)

let test () =
  let reported, expected = run () in
  Alcotest.check sites "report" expected reported;
  let line (operation, at) = (operation, Scanf.sscanf at "%_s@:%d" Fun.id) in
  let traced = List.map line !of_trace in
  (* The main task waits too, until the others have ended. *)
  Alcotest.check sites "trace" expected
    (List.filter (fun site -> List.mem site expected) traced)

let () =
  Check.run "call sites" [ ("lines", [ Check.test "of the program" test ]) ]
