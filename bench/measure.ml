open Case

type effort = {
  level : level;
  repetitions : int;
  sample_ms : float option;
  group_s : float option;
  crowd : int;
}

(* Many short samples rather than few long ones: what else the machine does comes
   in bursts, and then hits both sides of a ratio, or few of the samples. *)
let full =
  {
    level = Full;
    repetitions = 41;
    sample_ms = Some 60.;
    group_s = None;
    crowd = max_int;
  }

let quick =
  {
    level = Quick;
    repetitions = 15;
    sample_ms = Some 40.;
    group_s = Some 25.;
    crowd = 100_000;
  }

let brief =
  { quick with repetitions = 7; sample_ms = Some 20.; group_s = Some 15. }

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
    crowd = 100;
  }

type result = { row : row; values : float array; offered : float array }

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

(* From here on a program may take gigabytes, and a process does not give them back when it
   has its sample: together the rows of a comparison would need more than most machines
   have. *)
let huge_crowd = 1_000_000

(* What begins the next sample of [row], at that rate if it is of a load, and gives what
   waits for it (per operation and in its unit); and what ends them all. *)
let prepare effort ms group row =
  let per n answers =
    let unit_ = float_of_int n *. (Case.figure row).per_unit in
    List.map (fun answer -> answer /. unit_) answers
  in
  let in_new_process f =
    let worker = Worker.start group row in
    Fun.protect (fun () -> f worker) ~finally:(fun () -> Worker.stop worker)
  in
  let calibrated worker =
    let crowd = min calibration_crowd effort.crowd in
    calibrate ms (fun n -> List.hd (Worker.sample worker ~crowd n))
  in
  let each_in_new_process n _ () =
    in_new_process (fun worker ->
        per n (Worker.sample worker ~crowd:effort.crowd n))
  in
  match row.sample with
  | Crowd (tasks, _) when min tasks effort.crowd >= huge_crowd ->
      (each_in_new_process (in_new_process calibrated), ignore)
  | Time _ | Crowd _ ->
      let worker = Worker.start group row in
      let n =
        try calibrated worker
        with e ->
          Worker.stop worker;
          raise e
      in
      let next _ () = per n (Worker.sample worker ~crowd:effort.crowd n) in
      (next, fun () -> Worker.stop worker)
  | Counted { operations; _ } ->
      (each_in_new_process (Case.at effort.level operations), ignore)
  | Load { ms; _ } ->
      let worker = Worker.start group row in
      let ms = Case.at effort.level ms in
      let next rate = Worker.ask worker ~crowd:effort.crowd ~rate ms in
      (next, fun () -> Worker.stop worker)

(* One sample among a million tasks takes seconds, and a load much longer than other
   samples do. *)
let repetitions effort row =
  let most =
    match row.sample with
    | Time _ -> effort.repetitions
    | Crowd (tasks, _) ->
        if min tasks effort.crowd < huge_crowd then effort.repetitions else 7
    | Counted { samples; _ } -> Case.at effort.level samples
    | Load _ -> if effort.level = Least then 1 else 7
  in
  Int.min most effort.repetitions

(* For so long a comparison may go on, if it has had so many repetitions; that is
   half as much again as its share of the time. Samples of a given size, or in a crowd, can
   take long, so these have an end in any case: a report of everything takes about an
   hour. *)
let patience effort { baseline; others; _ } ~of_rows =
  match (effort.group_s, baseline.sample) with
  | Some s, _ ->
      let rows = float_of_int (1 + List.length others) in
      (1.5 *. s *. rows /. float_of_int of_rows, 3)
  | None, (Counted _ | Crowd _) -> (60., 7)
  | None, Time _ -> (12., 15)
  | None, Load _ -> (Float.infinity, 3)

let much_too_late = 10.

let is_measured effort row =
  match row.sample with
  | Counted { operations; _ } -> Case.at effort.level operations > 0
  | Time _ | Crowd _ | Load _ -> true

(* What runs before a row is felt in it, and in a fixed order that would always be the
   same: the baseline, if it were always first, would always come after the last row and
   the end of a turn. So each turn has an order of its own. It is drawn, from the same
   numbers in every run. The rate is asked for in each turn, as what a machine can do
   changes from minute to minute; and only once in each, so that ratios mean something. *)
let turn random ~rate subjects =
  let rate = rate () in
  let samples = List.map (fun subject -> lazy (subject rate)) subjects in
  List.map (fun sample -> (Random.State.bits random, sample)) samples
  |> List.sort (fun (a, _) (b, _) -> Int.compare a b)
  |> List.iter (fun (_, sample) -> ignore (Lazy.force sample : _));
  (rate, Array.of_list (List.map Lazy.force samples))

let rate row =
  match row.sample with
  | Load { rate; _ } -> rate ()
  | Time _ | Crowd _ | Counted _ -> infinity

let measure ~progress effort group comparison =
  let rows = rows comparison and case = comparison.baseline.case in
  let of_rows = List.length (List.concat_map Case.rows group.comparisons) in
  let patience_s, fewest = patience effort comparison ~of_rows in
  let start = Meter.now () in
  progress (case ^ ": calibration");
  let ms = sample_ms effort ~rows:of_rows in
  let stops = ref [] in
  let prepare row =
    let next, stop = prepare effort ms group row in
    stops := stop :: !stops;
    next
  in
  Fun.protect ~finally:(fun () -> List.iter (fun stop -> stop ()) !stops)
  @@ fun () ->
  let subjects = List.map prepare rows in
  let repetitions = repetitions effort comparison.baseline in
  let random = Random.State.make [||] in
  let rate () = rate comparison.baseline in
  let turn i =
    progress (Printf.sprintf "%s: repetition %d of %d" case i repetitions);
    match comparison.baseline.sample with
    | Load _ when effort.level = Least ->
        (* at the same time: wrk takes a second for each *)
        let rate = rate () in
        let waiting = List.map (fun next -> next rate) subjects in
        (rate, Array.of_list (List.map (fun wait -> wait ()) waiting))
    | _ -> turn random ~rate (List.map (fun next rate -> next rate ()) subjects)
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
  take [] 1

(* The turns of the loads that were measured, by group and name. *)
let loads = Hashtbl.create 100

let turns ~progress effort group comparison =
  match comparison.baseline.sample with
  | Time _ | Crowd _ | Counted _ -> measure ~progress effort group comparison
  | Load { name; _ } -> (
      let key = (group.name, name) in
      match Hashtbl.find_opt loads key with
      | Some turns -> turns
      | None ->
          let turns = measure ~progress effort group comparison in
          Hashtbl.add loads key turns;
          turns)

let results rows turns =
  let values i nth =
    Array.map (fun (_, answers) -> List.nth answers.(i) nth) turns
  and rates = Array.map fst turns in
  let offered = if Array.for_all Float.is_finite rates then rates else [||] in
  List.mapi
    (fun i row -> { row; values = values i (Case.nth row); offered })
    rows

(* Those that gave no result, and why. A load has several comparisons. *)
let failed = ref []

let same_measurement (a : row) (b : row) =
  let load row =
    match row.sample with
    | Load { name; _ } -> name
    | Time _ | Crowd _ | Counted _ -> row.case
  in
  load a = load b && a.impl = b.impl && a.host = b.host

let has_failed (group : group) row =
  List.exists
    (fun (of_group, failed_row, _) ->
      of_group = group.name && same_measurement failed_row row)
    !failed

let failures () = List.rev_map (fun (_, _, reason) -> reason) !failed

(* A row without a result is left out, and with a baseline the comparison. *)
let rec comparison ?(progress = ignore) effort (group : group) all =
  let is_wanted row = is_measured effort row && not (has_failed group row) in
  let baseline_failed = has_failed group all.baseline in
  match List.filter is_wanted (rows all) with
  | [] -> []
  | _ when baseline_failed -> []
  | baseline :: others as rows -> (
      match turns ~progress effort group { all with baseline; others } with
      | turns -> results rows (Array.of_list turns)
      | exception Worker.No_result { row; reason } ->
          progress (reason ^ ": it is left out");
          failed := (group.name, row, reason) :: !failed;
          comparison ~progress effort group all)

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
    if (Case.figure result.row).more_is_better then value /. base
    else base /. value
  in
  Array.map2 ratio baseline.values result.values
