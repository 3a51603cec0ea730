open Concord_bench
open Bench_page
open Cmdliner

(* The exit code if the user's request can't be carried out. That is no failure of a case. *)
let usage_error = 2
let regression = 3

let stop ~code reason =
  prerr_endline ("bench: " ^ reason);
  exit code

let names =
  String.concat ", " (List.map (fun (g : Case.group) -> g.name) Groups.all)

let list_groups () =
  List.iter
    (fun (group : Case.group) ->
      Printf.printf "%-10s %s\n" group.name group.doc;
      List.iter
        (fun (row : Case.row) ->
          Printf.printf "  %-24s %s@%s\n" row.case row.impl row.host)
        (List.concat_map Case.rows group.comparisons))
    Groups.all

let print_rows effort groups =
  List.iter prerr_endline Groups.left_out;
  List.iter
    (fun (group : Case.group) ->
      List.concat_map Case.rows group.comparisons
      |> List.filter (Effort.is_measured effort)
      |> List.iter (fun (row : Case.row) ->
          Printf.printf "%s %s %s %s %s\n" group.name row.case row.impl row.host
            (Case.figure row).unit_))
    groups

let date () =
  let { Unix.tm_year; tm_mon; tm_mday; tm_hour; tm_min; _ } =
    Unix.gmtime (Unix.time ())
  in
  Printf.sprintf "%d-%02d-%02d %02d:%02d UTC" (1900 + tm_year) (1 + tm_mon)
    tm_mday tm_hour tm_min

let command_line () =
  let here = Filename.concat (Sys.getcwd ()) "" in
  let from_here word =
    if String.starts_with ~prefix:here word then
      let n = String.length here in
      String.sub word n (String.length word - n)
    else word
  in
  let words = List.tl (Array.to_list Sys.argv) in
  String.concat " " ("./dev bench" :: List.map from_here words)

let begun = date ()

let run_of effort rows : Results.run =
  {
    machine = Report.machine ();
    date = begun;
    command = command_line ();
    effort = Report.effort effort;
    versions = Results.versions rows;
    left_out = Groups.left_out @ Measure.failures ();
    rows;
  }

(* Calls [save] with the results so far after each group, so that an interruption loses
   little. *)
let measure ~save (effort : Effort.t) groups =
  let undecided group measured =
    if effort.level = Least then Fun.const false
    else Undecided.is_undecided group measured
  in
  let comparison budget (group : Case.group) comparison =
    let patience_s = Budget.share_s budget group comparison in
    let progress = Printf.eprintf "bench: %s: %s\n%!" group.name in
    let results =
      Measure.comparison ~progress ~undecided:(undecided group) effort
        ~patience_s group comparison
    in
    (comparison, results)
  in
  let show (group : Case.group) measured =
    Results.groups [ run_of effort (Results.of_measured [ measured ]) ]
    |> List.concat_map snd
    |> List.iter (fun c ->
        Printf.printf "\n%s: %s%!" group.name (Tables.measured group.name c))
  in
  let budget = Budget.create effort ~all:Groups.all groups in
  let rec all measured = function
    | [] -> ()
    | (group : Case.group) :: rest ->
        let start = Meter.now () in
        let results = List.map (comparison budget group) group.comparisons in
        Printf.eprintf "bench: %s took %.0f s\n%!" group.name
          (1e-9 *. Meter.ns_since start);
        show group (group, results);
        let measured = measured @ [ (group, results) ] in
        save (Results.of_measured measured);
        all measured rest
  in
  all [] groups

let find_group name =
  match List.find_opt (fun (g : Case.group) -> g.name = name) Groups.all with
  | Some group -> group
  | None ->
      Printf.ksprintf failwith "unknown group %S. The groups are %s" name names

(* Reports errors of usage before anything is measured. *)
let usage f =
  match f () with
  | result -> result
  | exception (Failure reason | Sys_error reason | Results_file.Malformed reason)
    ->
      stop ~code:usage_error reason

let fill results file =
  match Filled.file results file with
  | () -> print_endline file
  | exception (Failure reason | Sys_error reason) -> stop ~code:1 reason

let draw results folder =
  if Plot.is_possible () then
    List.iter
      (fun ({ file; plot } : Chart.t) ->
        Plot.draw plot ~file:(Filename.concat folder (file ^ ".svg")))
      (Tables.charts results)
  else prerr_endline "bench: gnuplot is not installed, so there are no charts"

let print_table results name =
  match List.assoc_opt name Tables.all with
  | Some table -> print_string (table results)
  | None ->
      Printf.ksprintf (stop ~code:usage_error)
        "--print: there is no table %S. The tables are %s" name
        (String.concat ", " (List.map fst Tables.all))

let document results ~fills ~prints ~charts =
  List.iter (fill results) fills;
  List.iter (print_table results) prints;
  Option.iter (draw results) charts

let prepared effort asked names =
  let groups =
    match names with
    | [] -> Groups.all
    | names -> usage (fun () -> List.map find_group names)
  in
  List.map (Groups.prepare effort asked) groups

let measure_and_save groups effort json ~fills ~prints ~charts =
  let earlier =
    usage (fun () ->
        let exists = Option.fold ~none:false ~some:Sys.file_exists json in
        Option.iter Report.check_writable json;
        if exists then Results_file.read (Option.get json) else [])
  in
  print_endline (Report.conditions effort);
  List.iter print_endline Groups.left_out;
  let found = ref earlier in
  let save rows =
    found := Results.add (run_of effort rows) earlier;
    Option.iter (fun file -> Results_file.write file !found) json
  in
  (* The file has rounded samples. The tables are made from these, as --from makes them. *)
  let saved () =
    match json with Some file -> Results_file.read file | None -> !found
  in
  match measure ~save effort groups with
  | () -> (
      let dropped, taken = Worker.drops () in
      if taken > 0 then
        Printf.printf
          "%d of %d samples were dropped, because the process waited for a \
           core for more than 2 %% of the time\n\
           %!"
          dropped taken;
      document (saved ()) ~fills ~prints ~charts;
      match Measure.failures () with
      | [] -> ()
      | reasons -> stop ~code:1 (String.concat "\nbench: " reasons))
  | exception (Failure reason | Sys_error reason) -> stop ~code:1 reason

let compare_files = function
  | [ a; b ] ->
      let before, after =
        usage (fun () -> (Results_file.read a, Results_file.read b))
      in
      let changes = Compare.rows before after in
      print_string (Compare.print ~names:(a, b) changes);
      if Compare.is_empty changes then exit usage_error;
      if Compare.has_regression changes then exit regression
  | _ -> stop ~code:usage_error "--compare needs two files"

(* The results in [file]. If results are kept in [json], they are added to these. *)
let merged file json =
  let results = Results_file.read file in
  match json with
  | None -> results
  | Some kept ->
      let earlier =
        if Sys.file_exists kept then Results_file.read kept else []
      in
      let all =
        List.fold_left (fun t run -> Results.add run t) earlier results
      in
      Results_file.write kept all;
      all

let check_real_time (effort : Effort.t) =
  if effort.real_time && not (Worker.may_be_real_time ()) then
    stop ~code:usage_error
      "--real-time: chrt may not give real-time priority here. Run this as \
       root, or leave out the option"

let run names (effort : Effort.t) real_time minutes asked json from fills prints
    charts compare list rows =
  match (list, compare, from) with
  | true, _, _ -> list_groups ()
  | _, true, _ -> compare_files names
  | _, _, Some file ->
      document (usage (fun () -> merged file json)) ~fills ~prints ~charts
  | _ when rows -> print_rows effort (prepared effort asked names)
  | _ ->
      let seconds = Option.map (( *. ) 60.) minutes in
      let run_s = Option.value seconds ~default:effort.run_s in
      let effort = { effort with run_s; real_time } in
      check_real_time effort;
      let groups = prepared effort asked names in
      measure_and_save groups effort json ~fills ~prints ~charts

let groups =
  Arg.(
    value & pos_all string []
    & info [] ~docv:"GROUP"
        ~doc:
          ("A group to measure: " ^ names
         ^ ". Without a group, all are measured. With $(b,--compare), give two \
            files instead."))

let effort =
  Arg.(
    value
    & vflag Effort.full
        [
          ( Effort.quick,
            info [ "quick" ]
              ~doc:
                "Measure less. One group takes about half a minute \
                 ($(b,styles), $(b,web) and $(b,fib) take a minute), and all \
                 groups take about ten minutes. Without this option, all \
                 groups take an hour." );
          ( Effort.smoke,
            info [ "smoke" ]
              ~doc:"Only check that everything runs. The figures mean nothing."
          );
        ])

(* A positive number. *)
let positive ~what ~docv of_string printer =
  let parse text =
    match of_string text with
    | Some x when x > 0. && x < infinity -> Ok x
    | Some _ | None -> Error (`Msg (text ^ " is not a number of " ^ what))
  in
  Arg.conv ~docv (parse, printer)

let minutes =
  let positive =
    positive ~docv:"N" ~what:"minutes above 0" float_of_string_opt
      (Arg.conv_printer Arg.float)
  in
  Arg.(
    value
    & opt (some positive) None
    & info [ "minutes" ]
        ~doc:
          "The time for all groups together. By default it is an hour (or the \
           time of $(b,--quick)). With less time, rows have fewer turns (at \
           least 5) and wider quartiles. Rows of a claim that is undecided go \
           on for up to four times their share. Some rows need more than their \
           share, about 20 minutes in all (without $(b,--quick)).")

let real_time =
  Arg.(
    value & flag
    & info [ "real-time" ]
        ~doc:
          "Measure at real-time priority, by $(b,chrt), if other programs use \
           the cores. This needs root. Loads ($(b,fib), $(b,web)) keep their \
           priority, because their processes want more cores than there are.")

let asked =
  let n =
    Arg.(
      value
      & opt (some int) None
      & info [ "n"; "number" ] ~docv:"N"
          ~doc:
            "The Fibonacci number that the requests of $(b,fib) ask for. By \
             default it is one that takes a core 20 ms. The paper's number is \
             45.")
  and rate =
    let positive =
      positive ~docv:"R" ~what:"requests above 0" float_of_string_opt
        (Arg.conv_printer Arg.float)
    in
    Arg.(
      value
      & opt (some positive) None
      & info [ "rate" ] ~docv:"R"
          ~doc:
            "The number of requests per second that $(b,fib) offers over the \
             domains. By default it is 75 % of what the machine computes. The \
             paper's number is 50.")
  in
  Term.(const (fun n rate -> { Bench_fib.n; rate }) $ n $ rate)

let json =
  Arg.(
    value
    & opt (some string) None
    & info [ "json" ] ~docv:"FILE"
        ~doc:
          "Save the samples of all rows in $(docv). The measured groups \
           replace the groups of the same names in the file, and the others \
           stay.")

let from =
  Arg.(
    value
    & opt (some string) None
    & info [ "from" ] ~docv:"FILE"
        ~doc:
          "Measure nothing. Use the results that $(b,--json) has saved in \
           $(docv) for $(b,--fill), $(b,--print) and $(b,--charts). With \
           $(b,--json), they are first added to the results in that file, \
           whose groups of the same names they replace, for example if another \
           machine measured them.")

let fills =
  Arg.(
    value & opt_all string []
    & info [ "fill" ] ~docv:"DOCUMENT"
        ~doc:
          "Put the results of $(b,--json) or $(b,--from) into the tables of \
           $(docv), for example RESULTS.md. A table is between the lines \
           $(b,<!-- measured: NAME -->) and $(b,<!-- end -->).")

let prints =
  Arg.(
    value & opt_all string []
    & info [ "print" ] ~docv:"TABLE"
        ~doc:
          "Print this table from the results of $(b,--json) or $(b,--from), as \
           Markdown. $(b,rows) has every row.")

let charts =
  Arg.(
    value
    & opt (some dir) None
    & info [ "charts" ] ~docv:"FOLDER"
        ~doc:"Draw the charts into this folder, with gnuplot.")

let compare =
  Arg.(
    value & flag
    & info [ "compare" ]
        ~doc:
          "Measure nothing. Print the changes between two files of $(b,--json) \
           that exceed the spread. A change exceeds it if the quartiles of the \
           two do not overlap, and the medians differ by more than 3 %.")

let list =
  Arg.(value & flag & info [ "list" ] ~doc:"List the groups and their rows.")

let rows =
  Arg.(
    value & flag
    & info [ "rows" ]
        ~doc:
          "Measure nothing. Print a line for each row that would be measured: \
           its group, case, implementation, host and unit.")

let command =
  Cmd.v
    (Cmd.info "bench" ~doc:"measure Concord against its peers, in one run"
       ~exits:
         [
           Cmd.Exit.info 0 ~doc:"if everything was measured.";
           Cmd.Exit.info 1 ~doc:"if a row could not be measured.";
           Cmd.Exit.info usage_error
             ~doc:
               "if the command line is wrong, or if files cannot be read or \
                have no row to compare.";
           Cmd.Exit.info regression
             ~doc:"if $(b,--compare) found a row that became worse.";
         ])
    Term.(
      const run $ groups $ effort $ real_time $ minutes $ asked $ json $ from
      $ fills $ prints $ charts $ compare $ list $ rows)

let () =
  let code = Cmd.eval command in
  exit (if code = Cmd.Exit.cli_error then usage_error else code)
