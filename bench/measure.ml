open Case

type result = { row : row; values : float array; offered : float array }

(* A row may be affected by the row before it. With a fixed order, the effect would always be
   the same. For example, a baseline that is always first would always follow the last row and
   the end of a turn. So each turn has a random order, drawn from the same numbers in every
   run. The rate is determined in each turn, because the speed of a machine changes from minute
   to minute. It is determined only once in a turn, so that the ratios are meaningful. *)
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

(* --- When a row has enough ------------------------------------------------- *)

let ratios row ~baseline values =
  let ratio base value =
    if (Case.figure row).more_is_better then value /. base else base /. value
  in
  Statistics.pairs ratio baseline values

(* One row of a comparison in progress. The latest answers come first. *)
type subject = {
  row : row;
  sampling : Sampling.t;
  mutable answers : float list list;
}

(* All figures of a load have to be precise enough. *)
let figures subject =
  let turns = List.rev subject.answers in
  List.init
    (List.length (List.hd turns))
    (fun nth ->
      Array.of_list (List.map (fun answers -> List.nth answers nth) turns))

(* The precision that matters is that of the ratio to the baseline, turn by turn. *)
let series ~baseline subject =
  if subject == baseline then figures baseline
  else
    List.map2
      (fun base values -> ratios subject.row ~baseline:base values)
      (figures baseline) (figures subject)

(* --- A comparison ------------------------------------------------------------ *)

(* The comparisons that this measurement has the answers for. *)
let sharing (group : group) comparison =
  let load c =
    match c.baseline.sample with
    | Load { name; _ } -> Some name
    | Time _ | Crowd _ | Counted _ -> None
  in
  if load comparison = None then [ comparison ]
  else List.filter (fun c -> load c = load comparison) group.comparisons

let offered rates values =
  if Array.for_all Float.is_finite rates then
    Array.sub rates 0 (Array.length values)
  else [||]

(* The results of a comparison so far. [rates] begins with the latest one. *)
let partial comparison subjects rates =
  let rates = Array.of_list (List.rev rates) in
  let result row =
    List.find_opt
      (fun s -> s.row.impl = row.impl && s.row.host = row.host)
      subjects
    |> Option.map (fun subject ->
        let values = List.nth (figures subject) (Case.nth row) in
        { row; values; offered = offered rates values })
  in
  List.filter_map result (rows comparison)

let take_turn effort random ~rate subjects =
  let nexts = List.map (fun { sampling; _ } -> sampling.next) subjects in
  let rate, answers =
    match (List.hd subjects).row.sample with
    | Load _ when effort.Effort.level = Least ->
        (* wrk takes a second for each, so all of them wait at the same time *)
        let rate = rate () in
        let waiting = List.map (fun next -> next rate) nexts in
        (rate, Array.of_list (List.map (fun wait -> wait ()) waiting))
    | _ -> turn random ~rate (List.map (fun next rate -> next rate ()) nexts)
  in
  List.iteri
    (fun i subject -> subject.answers <- answers.(i) :: subject.answers)
    subjects;
  rate

(* Returns the subjects with all their answers, the baseline first, and the rates of the turns.
   A row that is precise enough takes no more turns. The other rows continue, with the
   baseline. So if the samples of two rows have the same index, they are from the same turn. *)
let measure ~progress ~undecided (effort : Effort.t) ~patience_s group
    comparison =
  let rows = rows comparison and case = comparison.baseline.case in
  let start = Meter.now () in
  progress (case ^ ": calibration");
  let ms = Effort.shortened effort ~patience_s ~rows:(List.length rows) in
  let stops = ref [] in
  let prepare row =
    let sampling = Sampling.prepare effort ms group row in
    stops := sampling.stop :: !stops;
    { row; sampling; answers = [] }
  in
  Fun.protect ~finally:(fun () -> List.iter (fun stop -> stop ()) !stops)
  @@ fun () ->
  let subjects = List.map prepare rows in
  let baseline = List.hd subjects and others = List.tl subjects in
  let random = Random.State.make [||] in
  let rate () = rate comparison.baseline in
  let measured rates =
    List.map (fun c -> (c, partial c subjects rates)) (sharing group comparison)
  in
  let rec take rates others =
    let turns = List.length rates in
    let goes_on =
      if turns = 0 then Fun.const true
      else
        let late = 1e-9 *. Meter.ns_since start /. patience_s
        and is_undecided = undecided (measured rates) in
        fun subject ->
          Effort.goes_on effort subject.row ~late
            ~is_undecided:(is_undecided subject.row) (series ~baseline subject)
    in
    let go_on = List.filter goes_on others in
    let is_over = go_on = [] && (others <> [] || not (goes_on baseline)) in
    if is_over then List.rev rates
    else begin
      progress
        (Printf.sprintf "%s: turn %d of at most %d, %d rows" case (turns + 1)
           (Effort.most_for_verdict effort comparison.baseline)
           (1 + List.length go_on));
      let rate = take_turn effort random ~rate (baseline :: go_on) in
      take (rate :: rates) go_on
    end
  in
  let rates = take [] others in
  progress
    (Printf.sprintf "%s: %d turns, %.1f s (of %.1f)" case (List.length rates)
       (1e-9 *. Meter.ns_since start)
       patience_s);
  (List.map (fun subject -> (subject.row, figures subject)) subjects, rates)

(* The answers of the loads that were measured, by group and name. *)
let loads = Hashtbl.create 100

let answers ~progress ~undecided effort ~patience_s (group : group) comparison =
  let measure () =
    measure ~progress ~undecided effort ~patience_s group comparison
  in
  match comparison.baseline.sample with
  | Time _ | Crowd _ | Counted _ -> measure ()
  | Load { name; _ } -> (
      let key = (group.name, name) in
      match Hashtbl.find_opt loads key with
      | Some answers -> answers
      | None ->
          let answers = measure () in
          Hashtbl.add loads key answers;
          answers)

let results rows (subjects, rates) =
  let rates = Array.of_list rates in
  List.map2
    (fun row (_, figures) ->
      let values = List.nth figures (Case.nth row) in
      { row; values; offered = offered rates values })
    rows subjects

(* The rows that gave no result, with the reasons. Several comparisons may share a load. *)
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

(* A row without a result is left out. If it is the baseline, the comparison is left out. *)
let rec comparison ?(progress = ignore) ?(undecided = fun _ _ -> false) effort
    ~patience_s (group : group) all =
  let is_wanted row =
    Effort.is_measured effort row && not (has_failed group row)
  in
  let baseline_failed = has_failed group all.baseline in
  match List.filter is_wanted (rows all) with
  | [] -> []
  | _ when baseline_failed -> []
  | baseline :: others as rows -> (
      match
        answers ~progress ~undecided effort ~patience_s group
          { all with baseline; others }
      with
      | answers -> results rows answers
      | exception Worker.No_result { row; reason } ->
          progress (reason ^ ": it is left out");
          failed := (group.name, row, reason) :: !failed;
          comparison ~progress ~undecided effort ~patience_s group all)
