let cell text = String.concat "\\|" (String.split_on_char '|' text)
let line cells = "| " ^ String.concat " | " (List.map cell cells) ^ " |\n"

let table ~head rows =
  String.concat ""
    ((line head :: [ line (List.map (fun _ -> "---") head) ])
    @ List.map line rows)

let section title parts =
  Printf.sprintf "\n## %s\n\n" title ^ String.concat "" parts

let item (name, value) = Printf.sprintf "- %s: %s\n" name value

let run (results : Results.t) =
  [
    ("Machine", results.machine);
    ("Versions", Tables.versions results);
    ("Command", Printf.sprintf "`%s`, %s" results.command results.date);
    ("Effort", results.effort);
  ]
  @ List.map (fun what -> ("Left out", what)) results.left_out

let value (row : Results.row) =
  Printf.sprintf "%s %s" (Ratio.figure (Results.median row)) row.unit_

(* --- Where others are ahead --- *)

let behind results =
  let line { Behind.row; peer; times = first, median, third } =
    [
      row.group;
      row.case;
      Results.name row;
      value row;
      Results.name peer;
      Printf.sprintf "%.2fx [%.2f %.2f]" median first third;
    ]
  in
  table ~head:Behind.head (List.map line (Behind.rows results))

(* --- What grows --- *)

let growth results =
  let line (c : Results.comparison) =
    let point row =
      (Concord_bench.Growth.size row.Results.case, Results.median row)
    in
    let growth =
      Concord_bench.Growth.of_sizes (List.map point (c.baseline :: c.others))
    in
    ( Concord_bench.Growth.is_flat growth,
      item (c.title, Concord_bench.Growth.text growth) )
  in
  let flat, grown =
    List.assoc_opt "scale" (Results.groups results)
    |> Option.value ~default:[] |> List.map line |> List.partition fst
  in
  List.map snd (grown @ flat)

(* --- Claims --- *)

let verdict results (claim : Claim.t) = Claim.verdict (claim.findings results)

(* What a claim that is not confirmed fails on. *)
let because results (claim : Claim.t) =
  let lines =
    List.filter_map
      (fun (f : Claim.finding) ->
        if f.verdict = Confirmed then None
        else
          Some (Printf.sprintf "  - %s (%s)\n" f.what (Claim.words f.verdict)))
      (claim.findings results)
  in
  String.concat "" lines

let claims results =
  let all =
    List.concat_map
      (fun (paper : Paper.t) ->
        List.concat_map
          (fun (part : Paper.part) ->
            List.map (fun claim -> (part, claim)) part.claims)
          paper.parts)
      Papers.all
  in
  let with_verdict v =
    List.filter (fun (_, claim) -> verdict results claim = v) all
    |> List.map (fun ((part : Paper.part), (claim : Claim.t)) ->
        Printf.sprintf "- **%s**: %s. (%s)\n%s" (Claim.words v) claim.says
          part.title (because results claim))
  in
  List.concat_map with_verdict [ Claim.Refuted; Undecided; Missing; Confirmed ]

(* --- All rows --- *)

let group (name, comparisons) =
  let lines (c : Results.comparison) =
    let line (row : Results.row) =
      let first, _, third = row.quartiles in
      [
        row.case;
        Results.name row;
        value row;
        Printf.sprintf "%s to %s" (Ratio.figure first) (Ratio.figure third);
        (if row == c.baseline then "baseline"
         else
           match Results.ratio row ~to_:c.baseline with
           | None -> ""
           | Some ratio -> Ratio.text ratio);
      ]
    in
    List.map line (c.baseline :: c.others)
  in
  Printf.sprintf "\n### %s\n\n" name
  ^ table
      ~head:[ "case"; "row"; "median"; "quartiles"; "against the baseline" ]
      (List.concat_map lines comparisons)

let markdown results =
  String.concat ""
    [
      section "The run" (List.map item (run results));
      section "Where others are ahead" [ behind results ];
      section "What grows with the number of what there is" (growth results);
      section "What the papers claim" (claims results);
      section "All rows" (List.map group (Results.groups results));
    ]
