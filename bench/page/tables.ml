open Results
open Html

let quartiles (first, _, third) =
  Printf.sprintf "%s to %s" (Ratio.figure first) (Ratio.figure third)

(* --- A comparison --- *)

let class_ name = [ ("class", name) ]

let ratio_cell ~baseline row =
  if row == baseline then text "baseline"
  else
    match Results.ratio row ~to_:baseline with
    | None -> text "another unit"
    | Some ratio ->
        let attributes =
          class_ (if Ratio.exceeds_its_effect ratio then "unsure" else "sure")
        in
        el "span" ~attributes [ text (Ratio.text ratio) ]

let printed_of (printed : Picture.printed list) row =
  List.find_map
    (fun { Picture.subject = s; text; _ } ->
      if s.group = row.group && s.case = row.case && s.row = Results.name row
      then Some text
      else None)
    printed

let comparison ?(printed = []) { title; baseline; others } =
  let rows = baseline :: others in
  let from_paper = List.map (printed_of printed) rows in
  let has_printed = List.exists Option.is_some from_paper in
  (* In some comparisons each row is a case of its own. *)
  let label row =
    if List.for_all (fun other -> other.case = row.case) rows then
      Results.name row
    else row.case ^ " " ^ Results.name row
  in
  let line row from_paper =
    [
      el "code" [ text (label row) ];
      text (Ratio.figure (median row));
      text (quartiles row.quartiles);
      text (string_of_int (Array.length row.samples));
      ratio_cell ~baseline row;
    ]
    @ if has_printed then [ text (Option.value from_paper ~default:"") ] else []
  in
  let head =
    [
      baseline.case;
      baseline.unit_;
      "quartiles";
      "samples";
      "against " ^ Results.name baseline;
    ]
    @ if has_printed then [ "printed there" ] else []
  in
  el "section" ~attributes:(class_ "comparison")
    [
      el "h4"
        [
          el "code" [ text baseline.case ];
          text (": " ^ title ^ Concord_bench.Report.offered baseline.offered);
        ];
      table ~head (List.map2 line rows from_paper);
    ]

(* --- Where others are ahead --- *)

let behind results =
  let line { Behind.row; peer; times = first, median, third } =
    [
      text row.group;
      el "code" [ text row.case ];
      el "code" [ text (Results.name row) ];
      text
        (Printf.sprintf "%s %s" (Ratio.figure (Results.median row)) row.unit_);
      el "code" [ text (Results.name peer) ];
      text (Printf.sprintf "%.2fx [%.2f %.2f]" median first third);
    ]
  in
  match Behind.rows results with
  | [] ->
      el "p"
        [ text "Nowhere beyond the spread, in the rows that were measured." ]
  | rows -> table ~head:Behind.head (List.map line rows)

let versions results =
  List.concat_map (fun row -> row.versions) results.rows
  |> List.sort_uniq compare
  |> List.map (fun (name, version) -> name ^ " " ^ version)
  |> String.concat ", "
