(* What is made of the events of another process. *)

open Concord_test_support
open Concord_trace
module Json = Yojson.Safe

let member = Json.Util.member
let text name event = Json.Util.to_string (member name event)
let number name event = Json.Util.to_number (member name event)
let int name event = Json.Util.to_int (member name event)

(* Its items, and how many events were lost. With [at_end] nothing is read before. *)
let record ?(at_end = false) ?(program = "./meeting.exe") args =
  let quiet = Unix.dup Unix.stdout in
  let null = Unix.openfile "/dev/null" [ O_WRONLY ] 0 in
  Unix.dup2 null Unix.stdout;
  let recorder = Recorder.start program args in
  Unix.dup2 quiet Unix.stdout;
  Unix.close null;
  Unix.close quiet;
  let items = ref [] in
  let poll () =
    while Recorder.poll recorder (fun item -> items := item :: !items) do
      ()
    done
  in
  Check.eventually "its end" (fun () ->
      let status = Recorder.ended recorder in
      if not at_end then poll ();
      match status with
      | Some status ->
          Check.yes "status" (status = WEXITED 0);
          true
      | None -> false);
  poll ();
  let lost = Recorder.lost recorder and names = Recorder.names recorder in
  Recorder.close recorder;
  (!items, names, lost)

let number_of_meetings = 20
let recorded = lazy (record [ string_of_int number_of_meetings ])

let timeline () =
  let items, _, _ = Lazy.force recorded in
  Timeline.make items

let waits () =
  let { Timeline.waits; _ } = timeline () in
  let operations =
    List.sort_uniq String.compare
      (List.map (fun (w : Timeline.wait) -> w.operation) waits)
  in
  Check.yes "take" (List.mem "Mvar.take" operations);
  Check.yes "some" (List.length waits >= number_of_meetings / 2);
  List.iter
    (fun (w : Timeline.wait) ->
      Check.yes "ended" (w.outcome = Some Concord.Tools.Trace.Returned);
      Check.yes "later" (w.ended_ns >= w.begun_ns))
    waits;
  (* One that found what it wanted when it was about to wait needs no waker. *)
  let is_woken (w : Timeline.wait) = Option.is_some w.wake in
  Check.yes "woken" (List.exists is_woken waits);
  let is_across (w : Timeline.wait) =
    match w.wake with Some wake -> wake.handed_over | None -> false
  in
  Check.yes "across domains" (List.exists is_across waits)

let mixed () =
  let items, _, _ = record ~program:"./mixed.exe" [] in
  let { Timeline.waits; runs; _ } = Timeline.make items in
  let some what f = Check.yes what (List.exists f waits) in
  let is_operation (task : Concord.Tools.Trace.task) =
    task.name = "an operation"
  in
  some "an operation that was woken" (fun w ->
      is_operation w.of_.task
      && w.outcome = Some Concord.Tools.Trace.Returned
      && Option.is_some w.wake);
  some "a cancelled one" (fun w ->
      w.outcome = Some Concord.Tools.Trace.Cancelled);
  some "one that has no end" (fun w -> Option.is_none w.outcome);
  Check.no "an operation runs"
    (List.exists (fun (r : Timeline.run) -> is_operation r.by_.task) runs)

(* Of each program what was written for Perfetto. *)
let written =
  let of_program (program, args) =
    let items, names, lost = record ~program args in
    let file = Filename.temp_file "trace" ".json" in
    Out_channel.with_open_bin file (fun channel ->
        Perfetto.write channel ~names ~lost (Timeline.make items));
    let json = Json.from_file file in
    Sys.remove file;
    (program, json)
  in
  lazy
    (List.map of_program
       [
         ("./meeting.exe", [ "20" ]); ("./mixed.exe", []); ("./fibers.exe", []);
       ])

let events_in json = Json.Util.to_list (member "traceEvents" json)

let each check () =
  List.iter
    (fun (program, json) -> check program (events_in json))
    (Lazy.force written)

let of_kind kind = List.filter (fun event -> text "ph" event = kind)
let track event = (int "pid" event, int "tid" event)

(* As the description of the Trace Event Format has them, and no others. *)
let fields program event =
  let given = List.sort String.compare (Json.Util.keys event) in
  let are expected =
    Check.strings program (List.sort String.compare expected) given
  in
  let common = [ "name"; "ph"; "pid"; "tid" ] in
  ignore (text "name" event : string);
  ignore (track event : int * int);
  let is_time name = Check.yes name (number name event >= 0.) in
  match text "ph" event with
  | "X" ->
      are (common @ [ "ts"; "dur"; "cat"; "args" ]);
      is_time "ts";
      is_time "dur";
      ignore (Json.Util.to_assoc (member "args" event))
  | "s" ->
      are (common @ [ "ts"; "cat"; "id" ]);
      is_time "ts";
      ignore (int "id" event : int)
  | "f" ->
      are (common @ [ "ts"; "cat"; "id"; "bp" ]);
      is_time "ts";
      Check.strings "it ends in the slice around it" [ "e" ] [ text "bp" event ]
  | "i" ->
      are (common @ [ "ts"; "cat"; "s" ]);
      is_time "ts";
      Check.strings "on its track" [ "t" ] [ text "s" event ]
  | "C" ->
      are (common @ [ "ts"; "args" ]);
      is_time "ts";
      ignore (int "length" (member "args" event) : int)
  | "M" -> (
      are (common @ [ "args" ]);
      let args = member "args" event in
      match text "name" event with
      | "process_name" | "thread_name" -> ignore (text "name" args : string)
      | "thread_sort_index" -> ignore (int "sort_index" args : int)
      | other -> Check.strings program [] [ other ])
  | other -> Check.strings program [] [ other ]

let schema () =
  List.iter
    (fun (program, json) ->
      Check.strings program [ "ns" ] [ text "displayTimeUnit" json ];
      Check.int program 0 (int "lost bytes" (member "otherData" json));
      List.iter (fields program) (events_in json))
    (Lazy.force written)

(* Each arrow has both ends, each inside of a slice, and leads forwards. *)
let arrows program events =
  let slices = of_kind "X" events in
  let starts = of_kind "s" events and ends = of_kind "f" events in
  let is_inside event slice =
    track slice = track event
    && number "ts" slice <= number "ts" event
    && number "ts" event <= number "ts" slice +. number "dur" slice
  in
  Check.yes program (starts <> []);
  Check.int "ends" (List.length starts) (List.length ends);
  List.iter
    (fun start ->
      match List.filter (fun e -> int "id" e = int "id" start) ends with
      | [ end_ ] ->
          Check.yes "forwards" (number "ts" end_ >= number "ts" start);
          Check.yes "from" (List.exists (is_inside start) slices);
          Check.yes "to" (List.exists (is_inside end_) slices)
      | found -> Check.int "ends" 1 (List.length found))
    starts

(* Slices of a track nest: Perfetto drops others. *)
let nesting program events =
  let slices = of_kind "X" events in
  let ns name event = Float.to_int (Float.round (1000. *. number name event)) in
  let span slice = (ns "ts" slice, ns "ts" slice + ns "dur" slice) in
  let tracks = List.sort_uniq compare (List.map track slices) in
  let check here =
    let spans =
      List.map span (List.filter (fun slice -> track slice = here) slices)
      |> List.sort (fun (a, b) (c, d) -> compare (a, d) (c, b))
    in
    let add open_ (from, until) =
      let open_ = List.filter (fun last -> last > from) open_ in
      List.iter (fun last -> Check.yes program (until <= last)) open_;
      until :: open_
    in
    ignore (List.fold_left add [] spans : int list)
  in
  List.iter check tracks

let tracks_have_names program events =
  let named =
    List.filter_map
      (fun event ->
        if text "name" event = "thread_name" then Some (track event) else None)
      (of_kind "M" events)
  in
  List.iter
    (fun slice -> Check.yes program (List.mem (track slice) named))
    (of_kind "X" events)

let lost () =
  Unix.putenv "OCAMLRUNPARAM" "e=8";
  let items, _, lost = record ~at_end:true [ "2000" ] in
  Unix.putenv "OCAMLRUNPARAM" "";
  Check.yes "lost" (lost > 0);
  (* What is left is drawn all the same. *)
  ignore (Timeline.make items : Timeline.t)

let refused () =
  Out_channel.with_open_text "meeting.txt" ignore;
  let refuses program said =
    match Recorder.start program [] with
    | (_ : Recorder.t) -> Check.yes program false
    | exception Failure text -> Check.strings program [ said ] [ text ]
  in
  refuses "no-such-program" "there is no program no-such-program";
  refuses "./no-such-program" "there is no program ./no-such-program";
  refuses "./meeting.txt" "./meeting.txt is not an executable file"

let () =
  Check.run "concord_trace"
    [
      ( "another process",
        [
          Check.test "waits" waits;
          Check.test "mixed" mixed;
          Check.test "lost events" lost;
          Check.test "refused" refused;
        ] );
      ( "perfetto",
        [
          Check.test "schema" schema;
          Check.test "arrows" (each arrows);
          Check.test "nesting" (each nesting);
          Check.test "names" (each tracks_have_names);
        ] );
    ]
