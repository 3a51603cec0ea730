(* Runs a program under concord-trace. Prints the program's output and where its tasks waited,
   without the times, which differ each time. *)

let is_time = Str.regexp "[0-9]+\\.[0-9]+ s"

let without_times line =
  let without text =
    let length = String.length (Str.matched_string text) in
    Printf.sprintf "%*s" length "N s"
  in
  Str.global_substitute is_time without line
  |> Str.global_replace (Str.regexp_string "doc/diagnosis/") ""

let is_head line = Str.string_match (Str.regexp " *waiting time ") line 0
let is_row line = Str.string_match (Str.regexp " *[0-9.]+ s +[0-9]+ ") line 0

(* [concord-trace] prints indented tables after the program's output. *)
let rec sums = function
  | head :: rest when is_head head ->
      let rec rows = function
        | row :: rest when is_row row -> row :: rows rest
        | _ -> []
      in
      head :: rows rest
  | _ :: rest -> sums rest
  | [] -> []

let () =
  let trace = Sys.argv.(1) and program = Sys.argv.(2) in
  let timeline = Filename.temp_file "sums" ".json" in
  let args = [ "-o"; timeline; program ] in
  let command = Filename.quote_command trace args ~stderr:Filename.null in
  let input = Unix.open_process_in command in
  let lines = String.split_on_char '\n' (In_channel.input_all input) in
  Sys.remove timeline;
  match Unix.close_process_in input with
  | WEXITED 0 ->
      let is_programs line = String.starts_with ~prefix:"answered" line in
      List.iter print_endline
        (List.filter is_programs lines @ List.map without_times (sums lines))
  | WEXITED _ | WSIGNALED _ | WSTOPPED _ -> failwith command
