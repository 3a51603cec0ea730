(* Prints the examples of the page in the second argument. With "copied", it prints them as a
   reader would copy them, with prompts and answers. With "answers", it prints only the answers
   that a toplevel gives to the phrases. With "typed", it prints what a reader types who has a
   toplevel that knows no prompts. *)

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

(* Blocks with a prompt, and none of which the page says that they don't run. *)
let typed page =
  let is_start line = line = "{[" || line = "{@ocaml[" in
  let has_prompt =
    List.exists (fun line -> String.starts_with ~prefix:"# " (String.trim line))
  in
  let rec blocks = function
    | [] -> []
    | start :: lines when is_start start -> inside [] lines
    | _ :: lines -> blocks lines
  and inside block = function
    | [] -> []
    | "]}" :: lines -> List.rev block :: blocks lines
    | line :: lines -> inside (line :: block) lines
  in
  let phrases block =
    let t = Pasting.create () in
    let read = List.filter_map (Pasting.line t ~more:true) block in
    read @ Option.to_list (Pasting.ending t)
  in
  blocks (In_channel.with_open_bin page In_channel.input_lines)
  |> List.filter has_prompt |> List.concat_map phrases

let () =
  let lines = examples Sys.argv.(2) in
  match Sys.argv.(1) with
  | "copied" -> List.iter print_endline lines
  | "typed" -> List.iter print_endline (typed Sys.argv.(2))
  | _ ->
      List.iter print_endline (answers lines);
      (* The toplevel prints this at the end of its input. *)
      print_newline ()
