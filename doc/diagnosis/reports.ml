(* Runs a program that hangs until it has reported a cycle or a stall, and prints the first
   report without the parts that differ each time. With "sigquit" as second argument it asks
   for reports by this signal until two in a row are the same, and prints the last one. *)

let replace pattern by text = Str.global_replace (Str.regexp pattern) by text

let without_times text =
  text
  |> replace "[0-9]+\\.[0-9] to [0-9]+\\.[0-9] s" "N to N s"
  |> replace "[0-9]+\\.[0-9] s" "N s"
  |> replace "doc/\\(diagnosis\\|tutorial\\)/" ""

(* Sorts the entries of each part, because it differs each time which wait began first. *)
let sorted text =
  let is_first line =
    (not (String.starts_with ~prefix:" " line))
    && Str.string_match (Str.regexp ".* ha\\(s\\|ve\\) waited for N ") line 0
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

let environment debug =
  let is_other binding =
    not (String.starts_with ~prefix:"CONCORD_DEBUG=" binding)
  in
  Unix.environment () |> Array.to_list |> List.filter is_other
  |> List.cons ("CONCORD_DEBUG=" ^ debug)
  |> Array.of_list

let report =
  Str.regexp "concord: \\(tasks wait for each other\\|no task has continued\\)"

let answer = Str.regexp "concord: [0-9]+ tasks? wait"

let has pattern text =
  match Str.search_forward pattern text 0 with
  | (_ : int) -> String.ends_with ~suffix:"\n" text
  | exception Not_found -> false

(* A cycle is reported at once, and again when no task continues. *)
let first text =
  match Str.search_forward report text 0 with
  | exception Not_found -> text
  | first -> (
      match Str.search_forward report text (first + 1) with
      | second -> String.sub text 0 second
      | exception Not_found -> text)

(* Reads until the program has printed everything and nothing follows for a while, but for at
   most a minute. *)
let rec read ?(tries = 60) pattern input text =
  let is_whole = has pattern in
  let pause = if is_whole text then 0.5 else 1. in
  match Unix.select [ input ] [] [] pause with
  | [], _, _ when is_whole text || tries = 0 -> text
  | [], _, _ -> read pattern input text ~tries:(tries - 1)
  | _ -> (
      let bytes = Bytes.create 4096 in
      match Unix.read input bytes 0 4096 with
      | 0 -> text
      | n -> read pattern input (text ^ Bytes.sub_string bytes 0 n) ~tries)

let shown text = sorted (without_times text)

(* The program prints a first line to show that it runs. From then on it handles the signal. *)
let asked pid input =
  let first_line = read (Str.regexp "\n") input "" in
  let rec ask before ~tries =
    Unix.kill pid Sys.sigquit;
    let text = shown (read answer input "") in
    if text = before || tries = 0 then text else ask text ~tries:(tries - 1)
  in
  first_line ^ ask "" ~tries:60

let () =
  let program = Sys.argv.(1) in
  let asks = Array.length Sys.argv > 2 in
  let debug = if asks then Sys.argv.(2) else "stall=2" in
  let input, output = Unix.pipe ~cloexec:true () in
  let null = Unix.openfile Filename.null [ O_RDWR ] 0 in
  let pid =
    Unix.create_process_env program [| program |] (environment debug) null null
      output
  in
  Unix.close output;
  let text =
    if asks then asked pid input else shown (first (read report input ""))
  in
  Unix.kill pid Sys.sigkill;
  ignore (Unix.waitpid [] pid : int * Unix.process_status);
  print_endline text
