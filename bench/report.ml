open Case

let processor () =
  let model line =
    match String.split_on_char ':' line with
    | [ key; name ] when String.trim key = "model name" ->
        Some (String.trim name)
    | _ -> None
  in
  try
    In_channel.with_open_text "/proc/cpuinfo" In_channel.input_lines
    |> List.find_map model
  with Sys_error _ -> None

let machine () =
  Printf.sprintf "%d cores%s, OCaml %s, profile %s"
    (Domain.recommended_domain_count ())
    (Option.fold ~none:"" ~some:(Printf.sprintf " (%s)") (processor ()))
    Sys.ocaml_version Build_profile.name

let effort (effort : Effort.t) =
  match effort.sample_ms with
  | Some ms ->
      Printf.sprintf
        "%d to %d samples of %.0f ms, until the median ratio is known to %g \
         %%, fewer or shorter where there is no time"
        effort.enough effort.most ms (100. *. effort.error)
  | None -> "a smoke run, whose figures mean nothing"

let conditions of_run =
  Printf.sprintf
    "%s; %s, in turns; value: median; spread: quartiles' distance / median"
    (machine ()) (effort of_run)

let name row = Printf.sprintf "%s@%s" row.impl row.host

let ratio ~baseline (result : Measure.result) =
  let { Figure.better; worse; _ } = figure result.row in
  let ratios = Measure.ratio_to ~baseline result in
  let first, median, third = Statistics.quartiles ratios in
  if median >= 1. then
    Printf.sprintf "%.2fx %s [%.2f %.2f]" median better first third
  else
    Printf.sprintf "%.2fx %s [%.2f %.2f]" (1. /. median) worse (1. /. third)
      (1. /. first)

let offered = function
  | [||] -> ""
  | rates ->
      let first, median, third = Statistics.quartiles rates in
      Printf.sprintf "; due per second: %.1f [%.1f %.1f]" median first third

let growth (group : group) results =
  if group.name <> Bench_scale.group.name then ""
  else
    let point (result : Measure.result) =
      (Growth.size result.row.case, Measure.median result)
    in
    Growth.text (Growth.of_sizes (List.map point results)) ^ "\n"

let comparison group { title; baseline; others } results =
  let line = Printf.sprintf "%-24s %-20s %10s %-5s %7s  %s\n" in
  let base = List.hd results in
  let row (result : Measure.result) =
    let { Figure.unit_; decimals; _ } = figure result.row in
    line result.row.case (name result.row)
      (Printf.sprintf "%.*f" decimals (Measure.median result))
      unit_
      (Printf.sprintf "%.1f%%" (100. *. Measure.spread result))
      (if result == base then "(baseline)" else ratio ~baseline:base result)
  in
  let against =
    if List.for_all (fun row -> row.case = baseline.case) others then
      name baseline
    else baseline.case
  in
  String.concat ""
    (Printf.sprintf "\n%s: %s%s\n" group.name title (offered base.offered)
     :: line "case" "impl@host" "value" "unit" "spread" ("against " ^ against)
     :: List.map row results
    @ [ growth group results ])

let check_writable file =
  Out_channel.with_open_gen [ Open_append; Open_creat ] 0o644 file ignore
