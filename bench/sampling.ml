open Case

type t = { next : float -> unit -> float list; stop : unit -> unit }

(* Finds the number of operations that takes [ms]. The first guesses are short and cold, so the
   number is scaled up only from a guess that took a good part of the time. *)
let calibrate ms sample =
  let rec from n target =
    let ns = sample n in
    if ns >= target /. 4. then
      max 1 (int_of_float (float_of_int n *. target /. ns))
    else from (4 * n) target
  in
  match ms with None -> 200 | Some ms -> from 1000 (ms *. 1e6)

(* Setting up a large crowd takes much longer than the operations among it. *)
let calibration_crowd = 1_000

(* The value per operation, in the unit of the row. *)
let per row n answers =
  let unit_ = float_of_int n *. (Case.figure row).per_unit in
  List.map (fun answer -> answer /. unit_) answers

let prepare (effort : Effort.t) ms group row =
  let start () =
    Worker.start ~real_time:(Effort.is_real_time effort row) group row
  in
  let in_new_process f =
    let worker = start () in
    Fun.protect (fun () -> f worker) ~finally:(fun () -> Worker.stop worker)
  in
  let sample =
    if effort.level = Least then Worker.sample else Worker.undelayed_sample ()
  in
  let calibrated worker =
    let crowd = min calibration_crowd effort.crowd in
    calibrate ms (fun n -> List.hd (Worker.sample worker ~crowd n))
  in
  let each_in_new_process ?(sample = sample) n =
    let next _ () =
      in_new_process (fun worker ->
          per row n (sample worker ~crowd:effort.crowd n))
    in
    { next; stop = ignore }
  in
  let in_one_process next_of =
    let worker = start () in
    let stop () = Worker.stop worker in
    match next_of worker with
    | next -> { next; stop }
    | exception e ->
        stop ();
        raise e
  in
  match row.sample with
  | Crowd (tasks, _) when Effort.is_huge effort tasks ->
      each_in_new_process (in_new_process calibrated)
  | Time _ | Crowd _ ->
      in_one_process (fun worker ->
          let n = calibrated worker in
          fun _ () -> per row n (sample worker ~crowd:effort.crowd n))
  | Counted { figure; operations; _ } ->
      (* A delay changes no size, but a second sample would use the memory that the first left
         free in this process. *)
      let sample = if figure = Figure.bytes then Some Worker.sample else None in
      each_in_new_process ?sample (Case.at effort.level operations)
  | Load { ms; _ } ->
      let ms = Case.at effort.level ms in
      in_one_process (fun worker rate ->
          Worker.ask worker ~crowd:effort.crowd ~rate ms)
