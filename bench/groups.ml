open Case

let here row = row.program <> Go || Worker.has_go

let without_missing group =
  let comparison c =
    match List.filter here (rows c) with
    | [] -> None
    | baseline :: others -> Some { c with baseline; others }
  in
  { group with comparisons = List.filter_map comparison group.comparisons }

let all =
  List.map without_missing
    [
      Bench_mvar.group;
      Bench_suspend.group;
      Bench_effect.group;
      Bench_structures.group;
      Bench_event.group;
      Bench_lazy.group;
      Bench_lwt.group;
      Bench_styles.group;
    ]

let left_out =
  if Worker.has_go then None
  else Some "Go was not installed when this was built: its rows are left out"
