(* Runs a program that hangs until it has reported a cycle or a stall, and prints the first
   report: without what differs each time. *)

let replace pattern by text = Str.global_replace (Str.regexp pattern) by text

let without_times text =
  text
  |> replace "[0-9]+\\.[0-9] to [0-9]+\\.[0-9] s" "N to N s"
  |> replace "[0-9]+\\.[0-9] s" "N s"
  |> replace "doc/diagnosis/" ""

(* Which wait began first differs too: the entries of each part are sorted. *)
let sorted text =
  let is_first line =
    (not (String.starts_with ~prefix:" " line))
    && Str.string_match (Str.regexp ".* waits? for N ") line 0
  in
  let add (entries, before) line =
    match entries with
    | _ when is_first line -> ([ line ] :: entries, before)
    | entry :: entries -> ((line :: entry) :: entries, before)
    | [] -> ([], line :: before)
  in
  let sorted part =
    let entries, before = List.fold_left add ([], []) part in
    let entries = List.sort compare (List.map List.rev entries) in
    List.rev before @ List.concat entries
  in
  Str.split_delim (Str.regexp_string "\n\n") (String.trim text)
  |> List.map (fun part ->
      String.concat "\n" (sorted (String.split_on_char '\n' part)))
  |> String.concat "\n\n"

let environment =
  let is_other binding =
    not (String.starts_with ~prefix:"CONCORD_DEBUG=" binding)
  in
  Unix.environment () |> Array.to_list |> List.filter is_other
  |> List.cons "CONCORD_DEBUG=stall=2"
  |> Array.of_list

let report = Str.regexp "concord: \\(a cycle\\|no task has gone on\\)"

let is_whole text =
  match Str.search_forward report text 0 with
  | (_ : int) -> String.ends_with ~suffix:"\n" text
  | exception Not_found -> false

(* A cycle is reported at once, and again when nothing goes on. *)
let first text =
  match Str.search_forward report text 1 with
  | second -> String.sub text 0 second
  | exception Not_found -> text

(* Until it has written all, and nothing follows for a while; a minute at most. *)
let rec read input text ~tries =
  let pause = if is_whole text then 0.5 else 1. in
  match Unix.select [ input ] [] [] pause with
  | [], _, _ when is_whole text || tries = 0 -> text
  | [], _, _ -> read input text ~tries:(tries - 1)
  | _ -> (
      let bytes = Bytes.create 4096 in
      match Unix.read input bytes 0 4096 with
      | 0 -> text
      | n -> read input (text ^ Bytes.sub_string bytes 0 n) ~tries)

let () =
  let program = Sys.argv.(1) in
  let input, output = Unix.pipe ~cloexec:true () in
  let null = Unix.openfile Filename.null [ O_RDWR ] 0 in
  let pid =
    Unix.create_process_env program [| program |] environment null null output
  in
  Unix.close output;
  let text = read input "" ~tries:60 in
  Unix.kill pid Sys.sigkill;
  ignore (Unix.waitpid [] pid : int * Unix.process_status);
  print_endline (sorted (without_times (first text)))
