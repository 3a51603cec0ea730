(* Prints the rows of a file of results in which every figure is one: what a
   test can expect of a benchmark. *)

let () =
  let open Yojson.Safe.Util in
  let print entry =
    let text key = to_string (member key entry) in
    let figure key = to_float (member key entry) in
    let value = figure "value" and spread = figure "spread" in
    let sound =
      Float.is_finite value && value > 0. && Float.is_finite spread
      && spread >= 0.
    in
    Printf.printf "%s %s %s %s %s%s\n" (text "group") (text "case")
      (text "impl") (text "host") (text "unit")
      (if sound then "" else Printf.sprintf " %f, spread %f" value spread)
  in
  List.iter print (to_list (Yojson.Safe.from_file Sys.argv.(1)))
