open Case

type effort = { repetitions : int; sample_ms : float option; things : int }

(* Many short samples rather than few long ones: what else the machine does comes
   in bursts, and then hits both sides of a ratio, or few of the samples. *)
let full = { repetitions = 41; sample_ms = Some 60.; things = 1_000_000 }
let quick = { repetitions = 15; sample_ms = Some 40.; things = 100_000 }
let smoke = { repetitions = 2; sample_ms = None; things = 10_000 }

type result = { row : row; values : float array }

(* How many operations take [sample_ms]. The first guesses are short and cold,
   so only one that took a good part of the time is scaled up. *)
let calibrate effort sample =
  let rec from n target =
    let ns = sample n in
    if ns >= target /. 4. then
      max 1 (int_of_float (float_of_int n *. target /. ns))
    else from (4 * n) target
  in
  match effort.sample_ms with None -> 200 | Some ms -> from 1000 (ms *. 1e6)

(* What takes the next sample of [row], per operation, and what ends it. *)
let prepare effort group row =
  match row.sample with
  | Time _ ->
      let worker = Worker.start group row in
      let n = calibrate effort (Worker.sample worker) in
      let next () = Worker.sample worker n /. float_of_int n in
      (next, fun () -> Worker.stop worker)
  | Resident _ ->
      let next () =
        let worker = Worker.start group row in
        let bytes = Worker.sample worker effort.things in
        Worker.stop worker;
        bytes /. float_of_int effort.things
      in
      (next, ignore)

(* The size of a process varies by much less than its speed, and a sample of it
   takes seconds. *)
let repetitions effort row =
  match row.sample with
  | Time _ -> effort.repetitions
  | Resident _ -> min 3 effort.repetitions

let comparison ?(progress = ignore) effort group comparison =
  let rows = rows comparison and case = comparison.baseline.case in
  progress (case ^ ": calibration");
  let subjects = List.map (prepare effort group) rows in
  let repetitions = repetitions effort comparison.baseline in
  let turn i =
    progress (Printf.sprintf "%s: repetition %d of %d" case (i + 1) repetitions);
    Array.of_list (List.map (fun (next, _) -> next ()) subjects)
  in
  let turns = Array.init repetitions turn in
  List.iter (fun (_, stop) -> stop ()) subjects;
  List.mapi
    (fun i row -> { row; values = Array.map (fun turn -> turn.(i)) turns })
    rows

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
  Array.map2 (fun base value -> base /. value) baseline.values result.values
