(* Prints the rows of a file of results, with every figure replaced by 1. A test can expect
   this output. *)

let () =
  let open Yojson.Safe.Util in
  let print entry =
    let text key = to_string (member key entry) in
    let samples = List.map to_float (to_list (member "samples" entry)) in
    let is_sound x = Float.is_finite x && x > 0. in
    Printf.printf "%s %s %s %s %s%s\n" (text "group") (text "case")
      (text "impl") (text "host") (text "unit")
      (if samples <> [] && List.for_all is_sound samples then ""
       else ": unsound samples")
  in
  Yojson.Safe.from_file Sys.argv.(1)
  |> to_list
  |> List.concat_map (fun run -> to_list (member "rows" run))
  |> List.iter print
