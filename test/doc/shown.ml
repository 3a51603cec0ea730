(* Checks that the page in the first argument shows programs of the file in the second one
   unchanged. It checks the code blocks that define [theirs], [ours] or [together]. With the
   third argument "all", it checks all blocks that mdx doesn't execute. *)

open Texts

let read file = In_channel.with_open_bin file In_channel.input_all

let blocks page =
  let start = "{@ocaml skip[\n" in
  let rec from i =
    match find page ~from:i ~part:start with
    | None -> []
    | Some j ->
        let first = j + String.length start in
        let last = Option.get (find page ~from:first ~part:"\n]}") in
        String.sub page first (last - first) :: from last
  in
  from 0

let is_of_pair block =
  List.exists
    (fun name -> contains block ~part:("let " ^ name ^ " ()"))
    [ "theirs"; "ours"; "together" ]

let () =
  let file = read Sys.argv.(2) in
  let all = Array.length Sys.argv > 3 && Sys.argv.(3) = "all" in
  let shown =
    List.filter
      (fun block -> all || is_of_pair block)
      (blocks (read Sys.argv.(1)))
  in
  let wrong =
    List.filter (fun block -> not (contains file ~part:block)) shown
  in
  List.iter
    (fun block ->
      Printf.printf "%s has no such program:\n%s\n" Sys.argv.(2) block)
    wrong;
  if List.length shown < 4 then print_endline "where are the programs?";
  if wrong <> [] || List.length shown < 4 then exit 1
