open Html

let class_ name = [ ("class", name) ]
let id name = [ ("id", name) ]

(* --- Pictures --- *)

type drawing = { folder : string; is_possible : bool }

let figure drawing ({ file; caption; plot } : Picture.t) =
  let file = file ^ ".svg" in
  Plot.draw plot ~file:(Filename.concat drawing.folder file);
  el "figure"
    [
      void "img"
        ~attributes:
          [ ("src", file); ("alt", caption ^ " The tables have the figures.") ];
      el "figcaption" [ text caption ];
    ]

let figures drawing pictures =
  if drawing.is_possible then List.map (figure drawing) pictures
  else if pictures = [] then []
  else
    [
      el "p" ~attributes:(class_ "missing")
        [ text "Gnuplot is not installed: there are tables, but no pictures." ];
    ]

(* --- Verdicts --- *)

let verdict v =
  el "span" ~attributes:(class_ "verdict") [ text (Claim.words v) ]

let claim results (claim : Claim.t) =
  let findings = claim.findings results in
  let finding (f : Claim.finding) =
    el "li" [ text (f.what ^ " (" ^ Claim.words f.verdict ^ ")") ]
  in
  el "li"
    (verdict (Claim.verdict findings)
    :: text (" " ^ claim.says ^ ".")
    ::
    (if findings = [] then []
     else [ el "ul" ~attributes:(class_ "missing") (List.map finding findings) ])
    )

(* --- A part of a paper --- *)

let comparisons_of results tables =
  let of_group (group, has) =
    List.assoc_opt group (Results.groups results)
    |> Option.value ~default:[]
    |> List.filter (fun (c : Results.comparison) -> has c.baseline.case)
  in
  List.map (fun (group, has) -> (group, of_group (group, has))) tables

let missing_groups results tables =
  List.filter_map
    (fun (group, comparisons) -> if comparisons = [] then Some group else None)
    (comparisons_of results tables)
  |> List.sort_uniq compare

let part drawing results (part : Paper.part) =
  let paragraph word words =
    el "p" [ el "b" [ text (word ^ " ") ]; text words ]
  in
  let missing =
    List.map
      (fun group ->
        el "p" ~attributes:(class_ "missing")
          [
            text (Printf.sprintf "Nothing of the group %s was measured." group);
          ])
      (missing_groups results part.tables)
  in
  let comparisons = List.concat_map snd (comparisons_of results part.tables) in
  el "section"
    ([
       el "h3" [ text part.title ];
       paragraph "Measured:" part.measured;
       paragraph "The paper:" part.claimed;
     ]
    @ missing
    @ (if part.claims = [] then []
       else
         [
           el "ul" ~attributes:(class_ "claims")
             (List.map (claim results) part.claims);
         ])
    @ List.map (fun remark -> el "p" [ text remark ]) part.remarks
    @ figures drawing (part.pictures results)
    @ List.map (Tables.comparison ~printed:part.printed) comparisons)

let anchor i = Printf.sprintf "paper-%d" (i + 1)

let paper drawing results i ({ name; machine; parts } : Paper.t) =
  el "section"
    (el "h2" ~attributes:(id (anchor i)) [ text name ]
     :: [ el "p" [ text machine ] ]
    @ List.map (part drawing results) parts)

(* --- What is in no paper --- *)

let is_in_a_paper (c : Results.comparison) =
  let row = c.baseline in
  List.exists
    (fun ({ parts; _ } : Paper.t) ->
      List.exists
        (fun (part : Paper.part) ->
          List.exists
            (fun (group, has) -> group = row.group && has row.case)
            part.tables)
        parts)
    Papers.all

let others results =
  List.filter_map
    (fun (group, comparisons) ->
      match List.filter (fun c -> not (is_in_a_paper c)) comparisons with
      | [] -> None
      | comparisons -> Some (group, comparisons))
    (Results.groups results)

let other drawing results (group, comparisons) =
  el "section"
    (el "h3" ~attributes:(id group) [ text group ]
     :: figures drawing (Picture.ratios ~group results)
    @ List.map (fun c -> Tables.comparison c) comparisons)

(* --- The page --- *)

let conditions (results : Results.t) =
  let entry (name, value) = [ el "dt" [ text name ]; el "dd" [ text value ] ] in
  el "dl"
    (List.concat_map entry
       ([
          ("machine", results.machine);
          ("date", results.date);
          ("command", results.command);
          ("effort", results.effort);
          ("versions", Tables.versions results);
        ]
       @ List.map (fun what -> ("left out", what)) results.left_out))

let how_to_read =
  [
    "The rows of a table are measured in turns, each in a process of its own, \
     and each turn in another order, as what runs before a row is felt in it. \
     A figure is the median of its samples, with the first and the third \
     quartile. A ratio is the median of the ratios of the single turns, with \
     theirs in brackets. A ratio in italics, marked with ~, is one whose \
     spread exceeds its effect: its quartiles lie farther apart than it lies \
     from 1, or there are fewer than three samples.";
    "A verdict is computed: a claim is confirmed if the first quartile of each \
     of its ratios reaches the limit that it names, not confirmed if the third \
     quartile of one does not, and else within the spread. Pictures have bars \
     from quartile to quartile.";
    "What two runs have measured on different machines is not to be compared \
     but by its ratios.";
  ]

let contents others =
  let entry address name = el "li" [ link ("#" ^ address) name ] in
  el "nav"
    [
      el "ul"
        ([
           entry "verdicts" "Verdicts"; entry "behind" "Where others are ahead";
         ]
        @ List.mapi
            (fun i (paper : Paper.t) -> entry (anchor i) paper.name)
            Papers.all
        @ List.map (fun (group, _) -> entry group ("Group " ^ group)) others);
    ]

let verdicts results =
  let line (part : Paper.part) (claim : Claim.t) =
    let v = Claim.verdict (claim.findings results) in
    [ verdict v; text claim.says; text part.title ]
  in
  let rows =
    List.concat_map
      (fun ({ parts; _ } : Paper.t) ->
        List.concat_map
          (fun (part : Paper.part) -> List.map (line part) part.claims)
          parts)
      Papers.all
  in
  table ~head:[ "verdict"; "claim"; "where" ] rows

let title = "Concord, measured"

let page drawing results =
  let others = others results in
  document ~title ~style:Style.css
    ([ el "h1" [ text title ]; conditions results ]
    @ List.map
        (fun text_ -> el "p" ~attributes:(class_ "note") [ text text_ ])
        how_to_read
    @ [
        contents others;
        el "h2" ~attributes:(id "verdicts") [ text "Verdicts" ];
        verdicts results;
        el "h2" ~attributes:(id "behind") [ text "Where others are ahead" ];
        el "p"
          [
            text
              "Each row of ours that some peer in the same case beats beyond \
               the spread, the worst first.";
          ];
        Tables.behind results;
      ]
    @ List.mapi (paper drawing results) Papers.all
    @ (if others = [] then []
       else [ el "h2" [ text "All other groups, against their peers" ] ])
    @ List.map (other drawing results) others)

let rec make_folder folder =
  if not (Sys.file_exists folder) then begin
    make_folder (Filename.dirname folder);
    Sys.mkdir folder 0o755
  end

let remove_pictures folder =
  Array.iter
    (fun file ->
      if Filename.check_suffix file ".svg" then
        Sys.remove (Filename.concat folder file))
    (Sys.readdir folder)

let results_file folder = Filename.concat folder "results.json"

let check_writable folder =
  make_folder folder;
  Concord_bench.Report.check_writable (results_file folder)

let write_results ~folder results =
  Results_file.write (results_file folder) results

let write_text ~folder file text =
  Out_channel.with_open_text (Filename.concat folder file) (fun channel ->
      output_string channel text)

let write ~folder results =
  make_folder folder;
  remove_pictures folder;
  write_results ~folder results;
  let drawing = { folder; is_possible = Plot.is_possible () } in
  let html = page drawing results in
  write_text ~folder "index.html" html;
  write_text ~folder "results.md" (Summary.markdown results)
