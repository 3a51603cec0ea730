(* Writes results like those of a complete run, but with invented figures. They are the same
   each time, and nothing is measured. *)

open Concord_bench
open Bench_page

let samples = 7

let values row =
  let seed = Hashtbl.hash (row.Case.case, row.impl, row.host) in
  let base = 10. +. float_of_int (seed mod 990) in
  Array.init samples (fun i ->
      let noise = seed / (i + 1) mod 21 in
      base *. (0.9 +. (0.01 *. float_of_int noise)))

let offered row =
  match row.Case.sample with
  | Load _ -> Array.make samples 500.
  | Time _ | Crowd _ | Counted _ -> [||]

let measured (group : Case.group) =
  ( group,
    List.map
      (fun comparison ->
        let result row =
          { Measure.row; values = values row; offered = offered row }
        in
        (comparison, List.map result (Case.rows comparison)))
      group.comparisons )

let () =
  Results_file.write Sys.argv.(1)
    [
      {
        machine = "none: the figures are made up";
        date = "";
        command = "";
        effort = "none";
        versions = [];
        left_out = [];
        rows = Results.of_measured (List.map measured Groups.all);
      };
    ]
