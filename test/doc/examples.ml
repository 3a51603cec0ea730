(* Prints the examples of the page in the second argument. With "copied", it prints them as a
   reader would copy them, with prompts and answers. With "answers", it prints only the answers
   that a toplevel gives to the phrases. *)

let indentation line =
  let rec spaces n =
    if n < String.length line && line.[n] = ' ' then spaces (n + 1) else n
  in
  spaces 0

(* Examples are in code blocks without a label, indented by two columns. *)
let examples page =
  let rec outside = function
    | [] -> []
    | "{[" :: lines -> inside lines
    | _ :: lines -> outside lines
  and inside = function
    | [] | "]}" :: [] -> []
    | "]}" :: lines -> outside lines
    | line :: lines -> line :: inside lines
  in
  outside (In_channel.with_open_bin page In_channel.input_lines)

let is_prompt line = String.starts_with ~prefix:"  # " line

let answers lines =
  let of_line in_answer line =
    if is_prompt line then (false, None)
    else if in_answer || (line <> "" && indentation line <= 2) then
      let text =
        if line = "" then line else String.sub line 2 (String.length line - 2)
      in
      (true, Some text)
    else (false, None)
  in
  List.fold_left_map of_line true lines |> snd |> List.filter_map Fun.id

let () =
  let lines = examples Sys.argv.(2) in
  match Sys.argv.(1) with
  | "copied" -> List.iter print_endline lines
  | _ ->
      List.iter print_endline (answers lines);
      (* The toplevel prints this at the end of its input. *)
      print_newline ()
