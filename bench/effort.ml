open Case

type t = {
  level : level;
  most : int;
  enough : int;
  fewest : int;
  least : int;
  error : float;
  sample_ms : float option;
  shortest_ms : float;
  crowd : int;
  run_s : float;
  group_s : float;
  real_time : bool;
}

(* There are many short samples instead of few long ones. Other work on the machine comes in
   bursts, which then affect both sides of a ratio, or only few samples. *)
let full =
  {
    level = Full;
    most = 41;
    enough = 11;
    fewest = 5;
    least = 3;
    error = 0.01;
    sample_ms = Some 50.;
    shortest_ms = 25.;
    crowd = max_int;
    run_s = 3_000.;
    group_s = 60.;
    real_time = false;
  }

let quick =
  {
    level = Quick;
    most = 15;
    enough = 5;
    fewest = 3;
    least = 1;
    error = 0.02;
    sample_ms = Some 40.;
    shortest_ms = 10.;
    crowd = 100_000;
    run_s = 450.;
    group_s = 25.;
    real_time = false;
  }

let smoke =
  {
    level = Least;
    most = 2;
    enough = 2;
    fewest = 2;
    least = 2;
    error = 0.;
    sample_ms = None;
    shortest_ms = 0.;
    crowd = 100;
    run_s = infinity;
    group_s = infinity;
    real_time = false;
  }

(* With this number of tasks a program may need gigabytes, and a process doesn't give them back
   after its sample. If all processes of a comparison stayed, they would need more memory than
   most machines have. *)
let huge_crowd = 1_000_000
let is_huge t tasks = min tasks t.crowd >= huge_crowd

(* A sample among a million tasks takes seconds, and a load takes much longer than other
   samples. *)
let of_row t row most =
  let this =
    match row.sample with
    | Time _ -> most
    | Crowd (tasks, _) -> if is_huge t tasks then 3 else most
    | Counted { samples; _ } -> Case.at t.level samples
    | Load _ -> if t.level = Least then 1 else 5
  in
  Int.min this most

let most t row = of_row t row t.most

(* A claim about a load needs more than five samples if these differ much. *)
let most_for_verdict t row =
  match row.sample with
  | Load _ when t.level = Full -> 15
  | Load _ | Time _ | Crowd _ | Counted _ -> most t row

(* Rows with few samples anyway (sizes, for example) vary little, so all of their samples are
   taken. *)
let enough t row =
  if most t row < t.enough then Int.min t.fewest (most t row) else t.enough

let is_known t row series =
  let samples = Array.length (List.hd series) in
  let is_small values = Statistics.error values <= t.error in
  samples >= most t row
  || (samples >= enough t row && List.for_all is_small series)

let much_too_late = 4.

let goes_on t row ~late ~is_undecided series =
  let samples = Array.length (List.hd series) in
  if late > much_too_late && samples >= t.least then false
  else if is_undecided then samples < most_for_verdict t row
  else (not (is_known t row series)) && not (late > 1. && samples >= t.fewest)

(* The processes of a load want more cores than there are, so they have to share them. *)
let is_real_time t row =
  match row.sample with
  | Load _ -> false
  | Time _ | Crowd _ | Counted _ -> t.real_time

let is_measured t row =
  match row.sample with
  | Counted { operations; _ } -> Case.at t.level operations > 0
  | Time _ | Crowd _ | Load _ -> true

(* --- The cost of a row ------------------------------------------------------ *)

let calibration = 3
let start_s = 0.05
let task_s = 5e-6
let counted_s = 0.25

(* Includes starting the server, stopping it, and warming it up with a part of the load. *)
let load_s ms = 0.5 +. (1.3e-3 *. float_of_int ms)

let row_s t row =
  let samples = float_of_int (enough t row) in
  let sample_s =
    Option.fold t.sample_ms ~none:0. ~some:(fun ms -> 1.2e-3 *. ms)
  in
  start_s
  +.
  match row.sample with
  | Time _ -> (samples +. float_of_int calibration) *. sample_s
  | Crowd (tasks, _) ->
      ((samples +. float_of_int calibration) *. sample_s)
      +. (samples *. task_s *. float_of_int (Int.min tasks t.crowd))
  | Counted _ -> samples *. (start_s +. counted_s)
  | Load { ms; _ } -> samples *. load_s (Case.at t.level ms)

let cost_s t { baseline; others; _ } =
  baseline :: others
  |> List.filter (is_measured t)
  |> List.fold_left (fun sum row -> sum +. row_s t row) 0.

(* A group with many rows has shorter samples. But they must not be too short, because a
   scheduler does some of its work only now and then. *)
let shortened t ~patience_s ~rows =
  let shorten ms =
    let samples = rows * (t.enough + calibration) in
    Float.min ms
      (Float.max t.shortest_ms
         (1000. *. patience_s /. (1.3 *. float_of_int samples)))
  in
  Option.map shorten t.sample_ms
