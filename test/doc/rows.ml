(* Prints a program that runs each piece of code in the tables of a page. [Rows_values] has the
   values of which the page says that they were made before. *)

(* The text of each pair of brackets that is in no other one. *)
let bracketed text =
  let found = ref [] and depth = ref 0 and first = ref 0 in
  String.iteri
    (fun i c ->
      match c with
      | '[' ->
          if !depth = 0 then first := i + 1;
          incr depth
      | ']' ->
          decr depth;
          if !depth = 0 then
            found := String.sub text !first (i - !first) :: !found
      | _ -> ())
    text;
  List.rev !found

let code row =
  match String.split_on_char '|' row with
  | [ ""; _; _; last; "" ] when bracketed last <> [] -> bracketed last
  | _ -> failwith ("the last of three columns has no code: " ^ row)

let () =
  let lines = In_channel.with_open_bin Sys.argv.(1) In_channel.input_lines in
  print_endline "open Concord\n\nlet () =\n  Rows_values.run [";
  List.filter (String.starts_with ~prefix:"| [") lines
  |> List.concat_map code
  |> List.iter (fun code ->
      Printf.printf
        "  (%S, fun ~scope ~workers ~changed ->\n\
        \     let module Values = Rows_values.Make () in\n\
        \     let open Values in\n\
        \     ignore (%s));\n"
        code code);
  print_endline "  ]"
