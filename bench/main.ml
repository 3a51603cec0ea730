open Concord_bench
open Bench_page
open Cmdliner

(* What the user asked for cannot be done; that is no failure of a case. *)
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

(* [save] is told after each group what there is so far: nobody should wait for
   figures that get lost. *)
let measure ~save effort groups =
  let comparison budget (group : Case.group) comparison =
    let patience_s = Budget.share_s budget group comparison in
    let progress = Printf.eprintf "bench: %s: %s\n%!" group.name in
    let results =
      Measure.comparison ~progress effort ~patience_s group comparison
    in
    if results <> [] then
      print_string (Report.comparison group comparison results);
    flush stdout;
    (comparison, results)
  in
  let budget = Budget.create effort ~all:Groups.all groups in
  let rec all measured = function
    | [] -> ()
    | (group : Case.group) :: rest ->
        let start = Meter.now () in
        let group = Groups.prepare effort group in
        let results = List.map (comparison budget group) group.comparisons in
        Printf.eprintf "bench: %s took %.0f s\n%!" group.name
          (1e-9 *. Meter.ns_since start);
        let measured = measured @ [ (group, results) ] in
        save (Results.of_measured measured);
        all measured rest
  in
  all [] groups

let find_group name =
  match List.find_opt (fun (g : Case.group) -> g.name = name) Groups.all with
  | Some group -> group
  | None ->
      Printf.ksprintf failwith "unknown group %S (there are %s)" name names

(* What cannot be done is said before anything is measured. *)
let usage f =
  match f () with
  | result -> result
  | exception (Failure reason | Sys_error reason | Results_file.Malformed reason)
    ->
      stop ~code:usage_error reason

let date () =
  let { Unix.tm_year; tm_mon; tm_mday; tm_hour; tm_min; _ } =
    Unix.gmtime (Unix.time ())
  in
  Printf.sprintf "%d-%02d-%02d %02d:%02d UTC" (1900 + tm_year) (1 + tm_mon)
    tm_mday tm_hour tm_min

let command_line () =
  String.concat " " ("./dev bench" :: List.tl (Array.to_list Sys.argv))

let run_of effort rows : Results.t =
  {
    machine = Report.machine ();
    date = date ();
    command = command_line ();
    effort = Report.effort effort;
    left_out = Groups.left_out @ Measure.failures ();
    rows;
  }

let show folder results =
  match Page.write ~folder results with
  | () -> Printf.printf "%s\n" (Filename.concat folder "index.html")
  | exception (Failure reason | Sys_error reason) -> stop ~code:1 reason

let measure_and_save names effort json report =
  let groups =
    usage (fun () ->
        Option.iter Report.check_writable json;
        Option.iter Page.check_writable report;
        match names with [] -> Groups.all | names -> List.map find_group names)
  in
  print_endline (Report.conditions effort);
  List.iter print_endline Groups.left_out;
  let found = ref [] in
  let save rows =
    found := rows;
    Option.iter (fun file -> Results_file.write_rows file rows) json;
    Option.iter
      (fun folder -> Page.write_results ~folder (run_of effort rows))
      report
  in
  match measure ~save effort groups with
  | () -> (
      Option.iter (fun folder -> show folder (run_of effort !found)) report;
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
  | _ -> stop ~code:usage_error "--compare takes two files"

let fill results file =
  match Filled.file results file with
  | () -> print_endline file
  | exception (Failure reason | Sys_error reason) -> stop ~code:1 reason

let run names (effort : Effort.t) minutes json report from fills folder compare
    list =
  match (list, compare, from) with
  | true, _, _ -> list_groups ()
  | _, true, _ -> compare_files names
  | _, _, Some file -> (
      let results = usage (fun () -> Results_file.read file) in
      match fills with
      | [] -> show folder results
      | files -> List.iter (fill results) files)
  | _, _, None when fills <> [] ->
      stop ~code:usage_error "--fill takes its figures from a file: add --from"
  | _ ->
      let seconds = Option.map (( *. ) 60.) minutes in
      let run_s = Option.value seconds ~default:effort.run_s in
      measure_and_save names { effort with run_s } json
        (if report then Some folder else None)

let groups =
  Arg.(
    value & pos_all string []
    & info [] ~docv:"GROUP"
        ~doc:
          ("A group to measure: " ^ names
         ^ ". Without any, all are. With $(b,--compare), the two files."))

let effort =
  Arg.(
    value
    & vflag Effort.full
        [
          ( Effort.quick,
            info [ "quick" ]
              ~doc:
                "Measure less: one group takes about half a minute \
                 ($(b,styles), $(b,web), $(b,fib): a minute), and all of them \
                 together about ten, where without this they take an hour." );
          ( Effort.smoke,
            info [ "smoke" ]
              ~doc:"Only see that everything runs: the figures mean nothing." );
        ])

let minutes =
  let parse text =
    match float_of_string_opt text with
    | Some minutes when minutes > 0. && minutes < infinity -> Ok minutes
    | Some _ | None ->
        Error (`Msg (text ^ " is not a number of minutes above 0"))
  in
  let positive = Arg.conv ~docv:"N" (parse, Arg.conv_printer Arg.float) in
  Arg.(
    value
    & opt (some positive) None
    & info [ "minutes" ]
        ~doc:
          "For all groups together, in place of an hour (or what $(b,--quick) \
           takes). Where there is less time rows have fewer turns, at least 5, \
           and wider quartiles. Some rows take longer than their part in any \
           case, all together some 20 minutes (without $(b,--quick)).")

let json =
  Arg.(
    value
    & opt (some string) None
    & info [ "json" ] ~docv:"FILE"
        ~doc:
          "Also write the results to $(docv): a list of objects with \
           $(b,group), $(b,case), $(b,impl), $(b,host), $(b,unit), $(b,value) \
           (the median), $(b,spread) (the distance of the quartiles, as a \
           fraction of the median), $(b,samples), and more.")

let report =
  Arg.(
    value & flag
    & info [ "report" ]
        ~doc:
          "Also write a page: the tables and figures of the papers beside what \
           was measured here, and all groups against their peers.")

let from =
  Arg.(
    value
    & opt (some string) None
    & info [ "from" ] ~docv:"FILE"
        ~doc:
          "Measure nothing: make the page of what $(b,--report) or $(b,--json) \
           has written to $(docv).")

let fills =
  Arg.(
    value & opt_all string []
    & info [ "fill" ] ~docv:"DOCUMENT"
        ~doc:
          "With $(b,--from), in place of the page: put these results into the \
           tables of $(docv), README.md say, which are between the lines \
           $(b,<!-- measured: NAME -->) and $(b,<!-- end -->).")

let folder =
  Arg.(
    value & opt string "bench/report"
    & info [ "folder" ] ~docv:"FOLDER"
        ~env:(Cmd.Env.info "CONCORD_REPORT")
        ~doc:
          "Where the page is written: $(b,index.html), the pictures, and \
           $(b,results.json), the raw data.")

let compare =
  Arg.(
    value & flag
    & info [ "compare" ]
        ~doc:
          "Measure nothing: print what has changed between two files of \
           $(b,--json) or $(b,--report) beyond the spread, which is where the \
           quartiles of the two do not overlap and the medians differ by more \
           than 3 %.")

let list =
  Arg.(value & flag & info [ "list" ] ~doc:"List the groups and their rows.")

let command =
  Cmd.v
    (Cmd.info "bench" ~doc:"measure Concord against its peers, in one run"
       ~exits:
         [
           Cmd.Exit.info 0 ~doc:"when everything was measured.";
           Cmd.Exit.info 1 ~doc:"when a row could not be measured.";
           Cmd.Exit.info usage_error
             ~doc:
               "on a wrong command line, or files that cannot be read or have \
                no row to compare.";
           Cmd.Exit.info regression
             ~doc:"when $(b,--compare) found a row that became worse.";
         ])
    Term.(
      const run $ groups $ effort $ minutes $ json $ report $ from $ fills
      $ folder $ compare $ list)

let () =
  let code = Cmd.eval command in
  exit (if code = Cmd.Exit.cli_error then usage_error else code)
