type verdict = Confirmed | Refuted | Undecided | Missing

type finding = {
  verdict : verdict;
  against : float;
  what : string;
  needs : Results.row list;
}

type t = { says : string; findings : Results.t -> finding list }

let words = function
  | Confirmed -> "confirmed"
  | Refuted -> "refuted"
  | Undecided -> "undecided"
  | Missing -> "not measured"

let verdict findings =
  let is verdict = List.exists (fun f -> f.verdict = verdict) findings in
  if is Refuted then Refuted
  else if is Missing || findings = [] then Missing
  else if is Undecided then Undecided
  else Confirmed

(* The finding that says why a claim has its verdict. *)
let deciding findings =
  let verdict = verdict findings in
  let worse f g = if g.against > f.against then g else f in
  match List.filter (fun f -> f.verdict = verdict) findings with
  | [] -> "none of its rows is in the results"
  | first :: rest -> (
      let worst = List.fold_left worse first rest in
      match (List.length findings, 1 + List.length rest) with
      | 1, _ -> worst.what
      | all, those ->
          Printf.sprintf "%s in %d of %d comparisons. The worst: %s"
            (words verdict) those all worst.what)

let missing what = { verdict = Missing; against = infinity; what; needs = [] }

let verdict_of ~limit (line : Line.t) =
  let low, high = Line.interval line in
  if Line.is_close ~limit line.times then Undecided
  else if high < limit then Confirmed
  else if low > limit then Refuted
  else Undecided

(* If the whole interval is that close to the limit, more turns would not help. *)
let is_level ~limit (line : Line.t) =
  let low, high = Line.interval line in
  Line.is_close ~limit (low, low, low) && Line.is_close ~limit (high, high, high)

type subject = { group : string; case : string; row : string }

let named { case; row; _ } = case ^ " " ^ row

let compared ~limit row ~base =
  match Line.of_row ~base row with
  | None ->
      Printf.ksprintf missing "%s and %s were not measured in turns"
        (Line.of_baseline row).name (Line.of_baseline base).name
  | Some line ->
      let _, median, _ = line.times and low, high = Line.interval line in
      let verdict = verdict_of ~limit line
      and is_level = is_level ~limit line in
      {
        verdict;
        against = median /. limit;
        what =
          Printf.sprintf "%s takes %s (%s to %s, %d turns) of %s%s" line.name
            (Line.figure median) (Line.figure low) (Line.figure high) line.turns
            line.baseline
            (if is_level then ", which is the limit within 3 %" else "");
        needs =
          (if verdict = Undecided && not is_level then [ row; base ] else []);
      }

let found results ({ group; case; row } as subject) =
  Option.to_result
    ~none:(named subject ^ " is not in the results")
    (Results.find results ~group ~case row)

let at_most limit ~says pairs =
  let findings results =
    let finding (a, b) =
      match (found results a, found results b) with
      | Ok row, Ok base -> compared ~limit row ~base
      | Error what, _ | _, Error what -> missing what
    in
    List.map finding pairs
  in
  { says; findings }

let of_comparisons limit ~says ~group ~case choose =
  let findings results =
    List.assoc_opt group (Results.groups results)
    |> Option.value ~default:[] |> List.filter case |> List.concat_map choose
    |> List.map (fun (row, base) -> compared ~limit row ~base)
  in
  { says; findings }

(* Rows that were not measured in turns are compared by their quartiles, and only if these lie
   on one side of the limit. *)
let by_quartiles ~limit ~what (a1, a2, a3) (b1, b2, b3) =
  let low = a1 /. b3 and high = a3 /. b1 in
  {
    verdict =
      (if high < limit then Confirmed
       else if low > limit then Refuted
       else Undecided);
    against = a2 /. b2 /. limit;
    what =
      Printf.sprintf "%s [%s %s]%s"
        (Line.figure (a2 /. b2))
        (Line.figure low) (Line.figure high) what;
    needs = [];
  }

type quantity = Row of subject | Ratio of subject * subject

let of_quantity results = function
  | Row subject ->
      Result.map
        (fun row -> (named subject, Results.quartiles row))
        (found results subject)
  | Ratio (a, b) -> (
      match (found results a, found results b) with
      | Ok row, Ok base -> (
          match Line.of_row ~base row with
          | Some line -> Ok (line.name ^ " / " ^ line.baseline, line.times)
          | None ->
              Error (named a ^ " and " ^ named b ^ " were not measured in turns")
          )
      | Error what, _ | _, Error what -> Error what)

let apart limit ~says pairs =
  let finding results (a, b) =
    match (of_quantity results a, of_quantity results b) with
    | Ok (a, a_quartiles), Ok (b, b_quartiles) ->
        by_quartiles ~limit a_quartiles b_quartiles
          ~what:
            (Printf.sprintf " is %s in proportion to %s, in other turns" a b)
    | Error what, _ | _, Error what -> missing what
  in
  { says; findings = (fun results -> List.map (finding results) pairs) }

let figure limit unit_ ~says subjects =
  let finding results ({ group; case; row } as subject) =
    match Results.find results ~group ~case row with
    | Some row when row.unit_ = unit_ ->
        let first, median, third = Results.quartiles row in
        {
          verdict =
            (if third < limit then Confirmed
             else if first > limit then Refuted
             else Undecided);
          against = median /. limit;
          what =
            Printf.sprintf "%s takes %s [%s %s] %s" (named subject)
              (Line.figure median) (Line.figure first) (Line.figure third) unit_;
          needs = [];
        }
    | Some _ -> missing (named subject ^ " was not measured in " ^ unit_)
    | None -> missing (named subject ^ " is not in the results")
  in
  { says; findings = (fun results -> List.map (finding results) subjects) }

let not_measured ~says what = { says; findings = (fun _ -> [ missing what ]) }
