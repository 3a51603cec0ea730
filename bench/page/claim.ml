type verdict = Confirmed | Refuted | Undecided | Missing
type finding = { verdict : verdict; what : string }
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

let verdict_of ~limit ({ times; drift; _ } : Line.t) =
  let _, median, _ = times in
  if not (Line.is_beyond ~drift ~limit times) then Undecided
  else if median < limit then Confirmed
  else Refuted

type subject = { group : string; case : string; row : string }

let compared ~limit row ~base =
  match Line.of_row ~base row with
  | None ->
      {
        verdict = Missing;
        what =
          Printf.sprintf "%s and %s were not measured in turns"
            (Line.of_baseline row).name (Line.of_baseline base).name;
      }
  | Some line ->
      let first, median, third = line.times in
      {
        verdict = verdict_of ~limit line;
        what =
          Printf.sprintf "%s takes %s [%s %s] of %s" line.name
            (Line.figure median) (Line.figure first) (Line.figure third)
            line.baseline;
      }

let at_most limit ~says pairs =
  let findings results =
    let find { group; case; row } =
      Option.to_result
        ~none:(Printf.sprintf "%s %s is not in the results" case row)
        (Results.find results ~group ~case row)
    in
    let finding (a, b) =
      match (find a, find b) with
      | Ok row, Ok base -> compared ~limit row ~base
      | Error what, _ | _, Error what -> { verdict = Missing; what }
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

let not_measured ~says what =
  { says; findings = (fun _ -> [ { verdict = Missing; what } ]) }
