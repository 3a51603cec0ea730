(* The drawing of events that the test creates. *)

open Concord.Tools
open Concord_test_support
open Concord_trace

let task ?(host = "eio") ?(kind = "fiber") id =
  { Trace.id; host; name = Printf.sprintf "%s %d" kind id }

let item ~at event = { Recorder.pid = 1; time_ns = at; event = Told event }

let suspended ~at ?(line = "a.ml:1") ?(domain = 0) wait task =
  item ~at
    (Trace.Suspended
       { wait; task; domain; operation = ""; structure = ""; at = line })

let resumed ~at ?(domain = 0) wait task =
  item ~at (Trace.Resumed { wait; task; domain; outcome = Returned })

let forked ~at ?(line = "a.ml:7") ?(domain = 0) task =
  item ~at (Trace.Forked { task; parent = task; domain; at = line })

let ended ~at ?(domain = 0) task = item ~at (Trace.Ended { task; domain })

let lost ~since ~at domain =
  let event = Recorder.Lost { domain; since_ns = since; bytes = 8 } in
  { Recorder.pid = 1; time_ns = at; event }

(* --- Losses --------------------------------------------------------------------- *)

let text_of_wait (w : Timeline.wait) =
  Printf.sprintf "%d: %d to %d, %s" w.number w.begun_ns w.ended_ns
    (match w.outcome with
    | Some _ -> "ended"
    | None when w.is_sure -> "waits"
    | None -> "unsure")

let waits items =
  let { Timeline.waits; _ } = Timeline.make items in
  List.map text_of_wait waits

let lost_ends () =
  Check.strings "a later wait, a later end, the task's end"
    [
      "1: 1 to 3, unsure";
      "2: 3 to 4, ended";
      "3: 5 to 6, unsure";
      "5: 7 to 8, unsure";
    ]
    (waits
       [
         suspended ~at:1 1 (task 1);
         suspended ~at:3 2 (task 1);
         resumed ~at:4 2 (task 1);
         suspended ~at:5 3 (task 1);
         resumed ~at:6 4 (task 1);
         suspended ~at:7 5 (task 1);
         ended ~at:8 (task 1);
       ]);
  Check.strings "to the end"
    [ "1: 1 to 9, unsure"; "2: 4 to 9, waits" ]
    (waits
       [
         suspended ~at:1 1 (task 1);
         lost ~since:2 ~at:3 0;
         suspended ~at:4 2 (task 2);
         forked ~at:9 (task 3);
       ])

let runs () =
  let { Timeline.runs; losses; _ } =
    Timeline.make
      [
        forked ~at:1 (task 1); lost ~since:4 ~at:7 0; suspended ~at:9 1 (task 1);
      ]
  in
  Check.strings "up to the loss" [ "1 to 4" ]
    (List.map
       (fun (r : Timeline.run) ->
         Printf.sprintf "%d to %d" r.from_ns r.until_ns)
       runs);
  Check.int "losses" 1 (List.length losses)

(* --- Rows ------------------------------------------------------------------------- *)

let lanes items =
  let t = Timeline.make items in
  ( List.map (fun (lane : Timeline.lane) -> lane.name) (Timeline.lanes t 1),
    Array.to_list t.folds )

let job n ~domain ~from ~until =
  let task = task ~host:"domainslib" ~kind:"job" n in
  [ forked ~at:from ~domain task; ended ~at:until ~domain task ]

(* A thousand jobs, with at most two at once. *)
let jobs () =
  let items =
    List.concat
      (List.init 1_000 (fun n ->
           let from = 1 + (10 * n) in
           job n ~domain:(n mod 2) ~from ~until:(from + 15)))
  in
  let names, folds = lanes items in
  Check.strings "rows"
    [ "domainslib, jobs of a.ml:7, row 1"; "domainslib, jobs of a.ml:7, row 2" ]
    names;
  Check.strings "folds" [ "domainslib, jobs of a.ml:7 (1000)" ] folds

(* Tasks that share a row don't overlap. *)
let apart () =
  let random = Random.State.make [| 7 |] in
  let int = Random.State.int random in
  let items =
    List.concat
      (List.init 300 (fun n ->
           let from = 1 + int 1_000 in
           job n ~domain:n ~from ~until:(from + 1 + int 100)))
  in
  let t = Timeline.make items in
  let spans = Hashtbl.create 10 in
  List.iter
    (fun (item : Recorder.item) ->
      match item.event with
      | Told (Forked { task; _ }) ->
          let row = Timeline.row t { pid = 1; task; domain = 0 } in
          Hashtbl.add spans task.id (row, item.time_ns, max_int)
      | Told (Ended { task; _ }) ->
          let row, from, _ = Hashtbl.find spans task.id in
          Hashtbl.replace spans task.id (row, from, item.time_ns)
      | _ -> ())
    (List.stable_sort
       (fun (a : Recorder.item) (b : Recorder.item) ->
         Int.compare a.time_ns b.time_ns)
       items);
  let all = List.of_seq (Hashtbl.to_seq_values spans) in
  Check.int "all" 300 (List.length all);
  List.iteri
    (fun i (row, from, until) ->
      List.iteri
        (fun j (row', from', until') ->
          if i < j && row = row' then
            Check.yes "apart" (until < from' || until' < from))
        all)
    all

let folds () =
  let fiber n line =
    [ suspended ~at:n ~line n (task n); resumed ~at:(100 + n) n (task n) ]
  in
  let names, folds =
    lanes
      (fiber 1 "dir/a.ml:1" @ fiber 2 "b.ml:2" @ fiber 3 "dir/a.ml:1"
      @ [ forked ~at:200 ~line:"" (task 4) ])
  in
  Check.strings "rows of a fold lie together"
    [ "eio, fiber 1"; "eio, fiber 3"; "eio, fiber 2"; "eio, fiber 4" ]
    names;
  Check.strings "folds"
    [
      "eio, fibers of a.ml:1 (2)";
      "eio, fibers of b.ml:2 (1)";
      "eio, fibers (1)";
    ]
    folds

let () =
  Check.run "timeline"
    [
      ("losses", [ Check.test "lost ends" lost_ends; Check.test "runs" runs ]);
      ( "rows",
        [
          Check.test "a thousand jobs" jobs;
          Check.test "apart" apart;
          Check.test "folds" folds;
        ] );
    ]
