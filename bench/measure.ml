open Case

type effort = {
  level : level;
  repetitions : int;
  sample_ms : float option;
  group_s : float option;
  count : counts -> int;
  crowd : int;
  things : int;
  load_ms : int;
  short_load_ms : int;
}

(* Many short samples rather than few long ones: what else the machine does comes
   in bursts, and then hits both sides of a ratio, or few of the samples. *)
let full =
  {
    level = Full;
    repetitions = 41;
    sample_ms = Some 60.;
    group_s = None;
    count = (fun { full; _ } -> full);
    crowd = max_int;
    things = 1_000_000;
    load_ms = 3_000;
    short_load_ms = 3_000;
  }

let quick =
  {
    level = Quick;
    repetitions = 15;
    sample_ms = Some 40.;
    group_s = Some 25.;
    count = (fun { quick; _ } -> quick);
    crowd = 100_000;
    things = 100_000;
    load_ms = 1_000;
    short_load_ms = 400;
  }

let brief =
  {
    quick with
    repetitions = 7;
    sample_ms = Some 20.;
    group_s = Some 15.;
    load_ms = 500;
  }

let brief_s = 480.

(* Each row has an equal part of the time that is left; what a group does not use is
   there for the next. *)
let within effort ~left_s ~rows ~of_rows =
  let share = left_s *. float_of_int rows /. float_of_int of_rows in
  let at_most s = Float.min s (Float.max 1. share) in
  { effort with group_s = Option.map at_most effort.group_s }

let smoke =
  {
    level = Least;
    repetitions = 2;
    sample_ms = None;
    group_s = None;
    count = (fun { quick; _ } -> Int.min 1_000 quick);
    crowd = 100;
    things = 10_000;
    load_ms = 100;
    short_load_ms = 100;
  }

type result = { row : row; values : float array }

(* Calibrating a sample takes as long as some repetitions do. *)
let calibration = 3

(* A group with many rows has shorter samples, but not so short that what a
   scheduler does only now and then is missed. *)
let sample_ms effort ~rows =
  let shortened ms =
    match effort.group_s with
    | None -> ms
    | Some s ->
        let samples = rows * (effort.repetitions + calibration) in
        Float.min ms (Float.max 10. (1000. *. s /. float_of_int samples))
  in
  Option.map shortened effort.sample_ms

(* How many operations take [ms]. The first guesses are short and cold, so only
   one that took a good part of the time is scaled up. *)
let calibrate ms sample =
  let rec from n target =
    let ns = sample n in
    if ns >= target /. 4. then
      max 1 (int_of_float (float_of_int n *. target /. ns))
    else from (4 * n) target
  in
  match ms with None -> 200 | Some ms -> from 1000 (ms *. 1e6)

(* A large crowd takes much longer than what is measured among it. *)
let calibration_crowd = 1_000

let in_new_process effort group row ~n =
  let worker = Worker.start group row in
  let value = Worker.sample worker ~crowd:effort.crowd n in
  Worker.stop worker;
  value

(* What the loads that several rows share were answered with, latest first: by group,
   load, implementation and host. *)
let answered : (string * string * string * string, Case.answers list) Hashtbl.t
    =
  Hashtbl.create 100

let load_key (group : group) row load = (group.name, load, row.impl, row.host)

let add_answers key answers =
  let before = Option.value (Hashtbl.find_opt answered key) ~default:[] in
  Hashtbl.replace answered key (answers :: before)

(* What takes the next sample of [row], per operation, and what ends it. *)
let prepare effort ms group row =
  match row.sample with
  | Time _ | Crowd _ ->
      let worker = Worker.start group row in
      let crowd = min calibration_crowd effort.crowd in
      let n = calibrate ms (Worker.sample worker ~crowd) in
      let next () =
        Worker.sample worker ~crowd:effort.crowd n /. float_of_int n
      in
      (next, fun () -> Worker.stop worker)
  | Counted (counts, scale, _) ->
      let n = effort.count counts in
      let next () =
        in_new_process effort group row ~n /. float_of_int n /. Case.in_ns scale
      in
      (next, ignore)
  | Served _ ->
      let worker = Worker.start group row in
      let next () = Worker.sample worker ~crowd:effort.crowd effort.load_ms in
      (* the first is slower *)
      if effort.repetitions > 2 then ignore (next () : float);
      (next, fun () -> Worker.stop worker)
  | Once _ -> ((fun () -> in_new_process effort group row ~n:1), ignore)
  | Loaded (figure, load, _) ->
      let worker = Worker.start group row in
      let next () =
        let answers =
          Worker.load worker ~crowd:effort.crowd effort.short_load_ms
        in
        add_answers (load_key group row load) answers;
        Case.figure figure answers
      in
      (next, fun () -> Worker.stop worker)
  | Resident _ ->
      let n = effort.things in
      let next () = in_new_process effort group row ~n /. float_of_int n in
      (next, ignore)

let huge_crowd = 1_000_000

(* The size of a process varies by much less than its speed, and a sample of it
   takes seconds; one among a million tasks does so too. *)
let repetitions effort row =
  match row.sample with
  | Crowd (tasks, _) when min tasks effort.crowd < huge_crowd ->
      effort.repetitions
  | Time _ | Counted _ -> effort.repetitions
  | Served (Throughput, _) when effort.repetitions <= 2 ->
      (* wrk takes a second for each *) 1
  | Loaded _ when effort.repetitions <= 2 -> (* there are many *) 1
  | Served _ | Loaded _ -> Int.min 7 effort.repetitions
  | Once { unit_ = "bytes"; _ } -> Int.min 3 effort.repetitions
  | Once _ -> Int.min (if effort.level = Full then 7 else 3) effort.repetitions
  | Crowd _ | Resident _ -> min 3 effort.repetitions

(* For so long a comparison may go on, if it has had so many repetitions; that is
   half as much again as its share of the time. Samples of a given size can take
   long, so they have an end in any case. *)
let patience effort { baseline; others; _ } ~of_rows =
  match (effort.group_s, baseline.sample) with
  | Some s, _ ->
      let rows = float_of_int (1 + List.length others) in
      (1.5 *. s *. rows /. float_of_int of_rows, 3)
  | None, Counted _ -> (120., 7)
  | None, _ -> (Float.infinity, 3)

let much_too_late = 10.

let is_left_out effort row =
  match row.sample with
  | Once { effort = needed; _ } -> needed > effort.level
  | Time _ | Counted _ | Crowd _ | Served _ | Loaded _ | Resident _ -> false

(* What runs before a row is felt in it, and in a fixed order that would always be the
   same: the baseline, if it were always first, would always come after the last row and
   the end of a turn. So each turn has an order of its own. It is drawn, from the same
   numbers in every run. *)
let turn random subjects =
  let samples = List.map Lazy.from_fun subjects in
  List.map (fun sample -> (Random.State.bits random, sample)) samples
  |> List.sort (fun (a, _) (b, _) -> Int.compare a b)
  |> List.iter (fun (_, sample) -> ignore (Lazy.force sample : _));
  Array.of_list (List.map Lazy.force samples)

let measure ~progress effort (group : group) comparison =
  let rows = rows comparison and case = comparison.baseline.case in
  let of_rows = List.length (List.concat_map Case.rows group.comparisons) in
  let patience_s, fewest = patience effort comparison ~of_rows in
  let start = Meter.now () in
  progress (case ^ ": calibration");
  let ms = sample_ms effort ~rows:of_rows in
  let subjects = List.map (prepare effort ms group) rows in
  let repetitions = repetitions effort comparison.baseline in
  let random = Random.State.make [||] in
  let turn i =
    progress (Printf.sprintf "%s: repetition %d of %d" case i repetitions);
    turn random (List.map fst subjects)
  in
  let rec take turns i =
    let ns = Meter.ns_since start in
    let late = ns > patience_s *. 1e9 in
    (* so that a busy machine does not take for ever *)
    let much_too_late =
      effort.group_s <> None && ns > much_too_late *. patience_s *. 1e9
    in
    if
      i > repetitions
      || (late && i > min fewest repetitions)
      || (much_too_late && i > 1)
    then List.rev turns
    else take (turn i :: turns) (i + 1)
  in
  let turns = Array.of_list (take [] 1) in
  List.iter (fun (_, stop) -> stop ()) subjects;
  List.mapi
    (fun i row -> { row; values = Array.map (fun turn -> turn.(i)) turns })
    rows

(* All rows were offered their loads in turns, or none was. *)
let from_before group row =
  match row.sample with
  | Loaded (figure, load, _) ->
      Hashtbl.find_opt answered (load_key group row load)
      |> Option.map (fun answers ->
          let values = List.rev_map (Case.figure figure) answers in
          { row; values = Array.of_list values })
  | Time _ | Counted _ | Crowd _ | Served _ | Once _ | Resident _ -> None

let comparison ?(progress = ignore) effort group comparison =
  let rows = rows comparison in
  let before = List.filter_map (from_before group) rows in
  if List.for_all (is_left_out effort) rows then []
  else if List.compare_lengths before rows = 0 then before
  else measure ~progress effort group comparison

let quartiles values =
  let sorted = Array.copy values in
  Array.sort Float.compare sorted;
  let at fraction =
    let position = fraction *. float_of_int (Array.length sorted - 1) in
    let below = int_of_float position in
    let above = min (below + 1) (Array.length sorted - 1) in
    let part = position -. float_of_int below in
    sorted.(below) +. (part *. (sorted.(above) -. sorted.(below)))
  in
  (at 0.25, at 0.5, at 0.75)

let median { values; _ } =
  let _, median, _ = quartiles values in
  median

let spread { values; _ } =
  let first, median, third = quartiles values in
  (third -. first) /. median

let ratio_to ~baseline result =
  let ratio base value =
    if Case.more_is_better result.row then value /. base else base /. value
  in
  Array.map2 ratio baseline.values result.values
