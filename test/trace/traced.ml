(* The trace of two tasks that wait for each other in turn, on any host. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Test_host
open Kept

let events = ref []

let callbacks =
  let lost_events ring words =
    Alcotest.failf "%d words of ring %d were lost" words ring
  in
  Trace.add_to (Runtime_events.Callbacks.create ~lost_events ())
    (fun _ time event ->
      events := (Runtime_events.Timestamp.to_int64 time, event) :: !events)

let cursor =
  Stdlib.Lazy.from_fun (fun () ->
      Runtime_events.start ();
      Runtime_events.create_cursor None)

let read () =
  while
    Runtime_events.read_poll (Stdlib.Lazy.force cursor) callbacks None > 0
  do
    ()
  done

(* The events during [f], in the order of their time. *)
let of_ f =
  read ();
  events := [];
  Trace.start ();
  Fun.protect f ~finally:Trace.stop;
  read ();
  List.rev !events
  |> List.stable_sort (fun (a, _) (b, _) -> Int64.compare a b)
  |> List.map snd

let suspensions operation events =
  List.filter_map
    (function
      | Trace.Suspended s when s.operation = operation ->
          Some (s.wait, s.task, s.at)
      | _ -> None)
    events

let wakers wait events =
  List.filter_map
    (function
      | Trace.Woken w when w.wait = wait -> Some (w.by, w.domain) | _ -> None)
    events

let ends wait events =
  List.filter_map
    (function
      | Trace.Resumed r when r.wait = wait -> Some (r.task, r.outcome)
      | _ -> None)
    events

let forks events =
  List.filter_map
    (function Trace.Forked f -> Some (f.task, f.parent) | _ -> None)
    events

let is_known (task : Trace.task) = task.name <> "a task"
let rounds = 3

(* Each search causes a collection, which adds events. So it isn't repeated so often that the
   rings overflow. *)
let the_one tasks name =
  let pause () =
    Unix.sleepf 0.000_5;
    tasks.pause ()
  in
  the_one { tasks with pause } name

(* Each task is found by its operation, and gives only when the other one waits. *)
let in_turn first second =
  let there = Mvar.create_empty () and back = Mailbox.create () in
  let in_there = named there and in_back = named back in
  let name = ref "" and other_name = ref "" in
  let left = Latch.create 2 in
  first.fork (fun () ->
      for _ = 1 to rounds do
        Mvar.take there;
        other_name := (the_one first in_back).task.name;
        Mailbox.add back ()
      done;
      Latch.count_down left);
  second.fork (fun () ->
      for _ = 1 to rounds do
        name := (the_one second in_there).task.name;
        Mvar.put there ();
        Mailbox.take back
      done;
      Latch.count_down left);
  Latch.await left;
  (!name, !other_name)

let the_task what = function
  | [] -> Alcotest.fail (what ^ ": no wait was found")
  | (_, (first : Trace.task), _) :: others as all ->
      let known = is_known first in
      List.iter
        (fun (_, (task : Trace.task), at) ->
          Alcotest.(check string) (what ^ ": name") first.name task.name;
          yes (what ^ ": line " ^ at) (contains at "traced.ml:");
          Alcotest.(check bool)
            (what ^ ": one number") known
            (first.id = task.id || List.is_empty others))
        (if known then all else others);
      first

(* The recorded waker is the other task, or unknown. It is never a third one. *)
let wakes what ~by:(other : Trace.task) events all =
  List.iter
    (fun (wait, (task : Trace.task), _) ->
      (match ends wait events with
      | [ (resumed, Trace.Returned) ] ->
          int (what ^ ": resumed") task.id resumed.id
      | _ -> Alcotest.fail (what ^ ": not resumed once"));
      match wakers wait events with
      | [ (by, _) ] when is_known other ->
          int (what ^ ": woken by " ^ by.host ^ ", " ^ by.name) other.id by.id
      | [ (by, _) ] -> no (what ^ ": woken by " ^ by.name) (is_known by)
      | _ -> Alcotest.fail (what ^ ": not woken once"))
    all

let check ~hosts:(host, other_host) (name, other_name) events =
  let first = suspensions "Mvar.take" events
  and second = suspensions "Mailbox.take" events in
  let task = the_task "the first" first
  and other = the_task "the second" second in
  strings "names" [ name; other_name ] [ task.name; other.name ];
  strings "hosts" [ host; other_host ] [ task.host; other.host ];
  wakes "the first" ~by:other events first;
  wakes "the second" ~by:task events second;
  (task, other)

let alone host () =
  let names = ref ("", "") in
  let events =
    of_ (fun () -> host.run (fun tasks -> names := in_turn tasks tasks))
  in
  ignore
    (check ~hosts:(host.reported, host.reported) !names events
      : Trace.task * Trace.task)

(* The task has the same number as when it waits. *)
let alone_forked host () =
  let names = ref ("", "") in
  let events =
    of_ (fun () -> host.run (fun tasks -> names := in_turn tasks tasks))
  in
  let task, other = check ~hosts:(host.reported, host.reported) !names events in
  let forked = List.map (fun ((task : Trace.task), _) -> task.id) (forks events)
  and ended =
    List.filter_map
      (function Trace.Ended e -> Some e.task.id | _ -> None)
      events
  in
  List.iter
    (fun (task : Trace.task) ->
      let times all = List.length (List.filter (Int.equal task.id) all) in
      int "forked once" 1 (times forked);
      int "ended once" 1 (times ended))
    [ task; other ]

let two_hosts one other () =
  let names = ref ("", "") in
  let events =
    of_ (fun () ->
        other.run (fun others ->
            one.run (fun tasks -> names := in_turn tasks others)))
  in
  ignore
    (check ~hosts:(one.reported, other.reported) !names events
      : Trace.task * Trace.task)
