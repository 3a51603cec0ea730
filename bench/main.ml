open Concord_bench
open Cmdliner

(* What the user asked for cannot be done; that is no failure of a case. *)
let usage_error = 2

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

let measure effort (group : Case.group) =
  List.concat_map
    (fun comparison ->
      let progress = Printf.eprintf "bench: %s: %s\n%!" group.name in
      let results = Measure.comparison ~progress effort group comparison in
      print_string (Report.comparison group comparison results);
      flush stdout;
      results)
    group.comparisons

let find_group name =
  match List.find_opt (fun (g : Case.group) -> g.name = name) Groups.all with
  | Some group -> group
  | None ->
      Printf.ksprintf failwith "unknown group %S (there are %s)" name names

(* The checks come first: nobody should wait for figures that get lost. *)
let check names json =
  match
    let groups = List.map find_group names in
    Option.iter Report.check_writable json;
    if groups = [] then Groups.all else groups
  with
  | groups -> groups
  | exception (Failure reason | Sys_error reason) ->
      stop ~code:usage_error reason

let run names effort json list =
  if list then list_groups ()
  else
    let groups = check names json in
    print_endline (Report.conditions effort);
    List.iter print_endline Groups.left_out;
    let measure group =
      let group = Groups.prepare effort group in
      (group, measure effort group)
    in
    match List.map measure groups with
    | results -> Option.iter (fun f -> Report.write_json f results) json
    | exception Failure reason -> stop ~code:1 reason

let groups =
  Arg.(
    value & pos_all string []
    & info [] ~docv:"GROUP"
        ~doc:("A group to measure: " ^ names ^ ". Without any, all are."))

let effort =
  Arg.(
    value
    & vflag Measure.full
        [
          ( Measure.quick,
            info [ "quick" ]
              ~doc:
                "Measure less, in under 40 s a group ($(b,styles), $(b,web), \
                 $(b,fib): two minutes)." );
          ( Measure.smoke,
            info [ "smoke" ]
              ~doc:"Only see that everything runs: the figures mean nothing." );
        ])

let json =
  Arg.(
    value
    & opt (some string) None
    & info [ "json" ] ~docv:"FILE"
        ~doc:
          "Also write the results to $(docv): a list of objects with \
           $(b,group), $(b,case), $(b,impl), $(b,host), $(b,unit), $(b,value) \
           (the median) and $(b,spread) (the distance of the quartiles, as a \
           fraction of the median).")

let list =
  Arg.(value & flag & info [ "list" ] ~doc:"List the groups and their rows.")

let command =
  Cmd.v
    (Cmd.info "bench" ~doc:"measure Concord against its peers, in one run"
       ~exits:
         [
           Cmd.Exit.info 0 ~doc:"when everything was measured.";
           Cmd.Exit.info 1 ~doc:"when a row could not be measured.";
           Cmd.Exit.info usage_error ~doc:"on a wrong command line.";
         ])
    Term.(const run $ groups $ effort $ json $ list)

let () =
  let code = Cmd.eval command in
  exit (if code = Cmd.Exit.cli_error then usage_error else code)
