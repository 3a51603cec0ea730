open Results
open Html

let figure x =
  let digits =
    if x = 0. || Float.abs x >= 100. then 0
    else if Float.abs x >= 10. then 1
    else 2
  in
  Printf.sprintf "%.*f" digits x

let quartiles (first, _, third) =
  Printf.sprintf "%s to %s" (figure first) (figure third)

(* --- A ratio --- *)

(* Distances of ratios are quotients, so that twice as fast is as far from 1 as half as
   fast. *)
let exceeds_its_effect (first, median, third) =
  Float.log (third /. first) > Float.abs (Float.log median)

let ratio_text ((first, median, third) as ratio) =
  let turned = median < 1. in
  let x, low, high =
    if turned then (1. /. median, 1. /. third, 1. /. first)
    else (median, first, third)
  in
  let quartiles =
    if Float.is_finite high then Printf.sprintf " [%.2f %.2f]" low high else ""
  in
  Printf.sprintf "%.2fx %s%s%s" x
    (if turned then "worse" else "better")
    quartiles
    (if exceeds_its_effect ratio then " ~" else "")

(* --- A comparison --- *)

let class_ name = [ ("class", name) ]

let ratio_cell ~baseline row =
  if row == baseline then text "baseline"
  else
    match Results.ratio row ~to_:baseline with
    | None -> text "another unit"
    | Some ratio ->
        let attributes =
          class_ (if exceeds_its_effect ratio then "unsure" else "sure")
        in
        el "span" ~attributes [ text (ratio_text ratio) ]

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
      text (figure (median row));
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
      el "h4" [ el "code" [ text baseline.case ]; text (": " ^ title) ];
      table ~head (List.map2 line rows from_paper);
    ]

(* --- Where others are ahead --- *)

(* In some groups the variant of a program is in the place of the library. *)
let is_ours row =
  String.starts_with ~prefix:"concord" row.impl
  || row.group = "fib"
     && List.mem row.impl [ "composed"; "as-printed"; "mvar" ]

(* The best of the others in the same case, if it is ahead of [row] beyond the spread. *)
let ahead_of row rows =
  let better peer =
    if is_ours peer || peer.case <> row.case then None
    else
      match Results.ratio peer ~to_:row with
      | Some ((first, median, _) as ratio)
        when first > 1. && not (exceeds_its_effect ratio) ->
          Some (peer, median, ratio)
      | Some _ | None -> None
  in
  List.filter_map better rows
  |> List.sort (fun (_, a, _) (_, b, _) -> Float.compare b a)
  |> Fun.flip List.nth_opt 0

let behind results =
  let of_comparison (c : comparison) =
    let rows = c.baseline :: c.others in
    List.filter is_ours rows
    |> List.filter_map (fun row ->
        Option.map (fun best -> (row, best)) (ahead_of row rows))
  in
  let all =
    List.concat_map
      (fun (_, comparisons) -> List.concat_map of_comparison comparisons)
      (Results.groups results)
  in
  let worst_first (_, (_, a, _)) (_, (_, b, _)) = Float.compare b a in
  let line (row, (peer, median, (first, _, third))) =
    [
      text row.group;
      el "code" [ text row.case ];
      el "code" [ text (Results.name row) ];
      text (Printf.sprintf "%s %s" (figure (Results.median row)) row.unit_);
      el "code" [ text (Results.name peer) ];
      text (Printf.sprintf "%.2fx [%.2f %.2f]" median first third);
    ]
  in
  match List.sort worst_first all with
  | [] ->
      el "p"
        [ text "Nowhere beyond the spread, in the rows that were measured." ]
  | rows ->
      table
        ~head:
          [
            "group";
            "case";
            "row";
            "median";
            "best peer";
            "the peer is better by";
          ]
        (List.map line rows)

let versions results =
  List.concat_map (fun row -> row.versions) results.rows
  |> List.sort_uniq compare
  |> List.map (fun (name, version) -> name ^ " " ^ version)
  |> String.concat ", "
