type verdict = Confirmed | Refuted | Undecided | Missing
type finding = { verdict : verdict; what : string }
type t = { says : string; findings : Results.t -> finding list }

let words = function
  | Confirmed -> "confirmed"
  | Refuted -> "not confirmed"
  | Undecided -> "within the spread"
  | Missing -> "not measured"

let verdict findings =
  let is verdict = List.exists (fun f -> f.verdict = verdict) findings in
  if is Refuted then Refuted
  else if is Missing || findings = [] then Missing
  else if is Undecided then Undecided
  else Confirmed

let verdict_of_ratio ~limit (first, _, third) =
  if first >= limit then Confirmed
  else if third < limit then Refuted
  else Undecided

type subject = { group : string; case : string; row : string }

let rows_of (results : Results.t) { group; case; row } =
  List.filter
    (fun (r : Results.row) ->
      r.group = group && r.case = case && Results.name r = row)
    results.rows

let label (row : Results.row) = row.case ^ " " ^ Results.name row

let pair ~limit (a : Results.row) (b : Results.row) =
  let against =
    label a ^ " against " ^ if a.case = b.case then Results.name b else label b
  in
  match Results.ratio a ~to_:b with
  | None -> { verdict = Missing; what = against ^ ": in another unit" }
  | Some ((first, median, third) as ratio) ->
      {
        verdict = verdict_of_ratio ~limit ratio;
        what =
          (if Float.is_finite third then
             Printf.sprintf "%s: %.2f times as good [%.2f %.2f]" against median
               first third
           else
             Printf.sprintf "%s: %.2f times as good, too few samples" against
               median);
      }

let at_least limit ~says pairs =
  let finding results (a, b) =
    let missing { case; row; group } =
      {
        verdict = Missing;
        what = Printf.sprintf "%s %s %s was not measured" group case row;
      }
    in
    match (rows_of results a, rows_of results b) with
    | a :: _, b :: _ -> pair ~limit a b
    | [], _ -> missing a
    | _, [] -> missing b
  in
  { says; findings = (fun results -> List.map (finding results) pairs) }

let of_comparisons limit ~says ~group ~case choose =
  let findings results =
    List.assoc_opt group (Results.groups results)
    |> Option.value ~default:[]
    |> List.filter (fun (c : Results.comparison) -> case c.baseline.case)
    |> List.concat_map choose
    |> List.map (fun (a, b) -> pair ~limit a b)
  in
  { says; findings }
