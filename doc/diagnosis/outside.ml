(* Starts a program plainly, and prints what concord-trace --waits says about it, without the parts
   that differ each time. The arguments are the command, the program, the number of tasks that will
   wait, and a file with the text to print where the system doesn't let the command read the
   program. *)

let replace pattern by text = Str.global_replace (Str.regexp pattern) by text

let environment () =
  Unix.environment () |> Array.to_list
  |> List.filter (fun binding ->
      not (String.starts_with ~prefix:"CONCORD_DEBUG=" binding))
  |> Array.of_list

let ask command pid =
  let line = Filename.quote_command command [ "--waits"; string_of_int pid ] in
  let input = Unix.open_process_in (line ^ " 2>&1") in
  let text = In_channel.input_all input in
  match Unix.close_process_in input with
  | WEXITED 0 -> Ok text
  | WEXITED _ | WSIGNALED _ | WSTOPPED _ -> Error text

let shown text =
  let text =
    text
    |> replace "process [0-9]+" "process PID"
    |> replace "doc/diagnosis/" ""
    |> replace "0x[0-9a-f]+" "ADDRESS"
  in
  (* The order of the tasks is that of their stacks in the memory. *)
  match Str.split_delim (Str.regexp_string "\n\n") text with
  | first :: (_ :: _ as rest) ->
      let last = List.nth rest (List.length rest - 1) in
      let tasks = List.filter (fun part -> part != last) rest in
      String.concat "\n\n" ((first :: List.sort compare tasks) @ [ last ])
  | _ -> text

let rec until_there ?(tries = 3_000) command pid start =
  match ask command pid with
  | Error text when Str.string_match (Str.regexp ".*may not read") text 0 ->
      None
  | Ok text when String.starts_with ~prefix:start text -> Some (shown text)
  | (Ok _ | Error _) when tries > 0 ->
      Unix.sleepf 0.01;
      until_there command pid start ~tries:(tries - 1)
  | Ok text | Error text -> failwith text

let () =
  let command = Sys.argv.(1) and program = Sys.argv.(2) in
  let pid =
    Unix.create_process_env program [| program |] (environment ()) Unix.stdin
      Unix.stderr Unix.stderr
  in
  Fun.protect
    ~finally:(fun () ->
      Unix.kill pid Sys.sigkill;
      ignore (Unix.waitpid [] pid : int * Unix.process_status))
    (fun () ->
      match
        until_there command pid
          (Printf.sprintf "concord: %s tasks wait " Sys.argv.(3))
      with
      | Some text -> print_string text
      | None ->
          prerr_endline
            "left out: this system doesn't let concord-trace --waits read \
             another process";
          print_string
            (In_channel.with_open_bin Sys.argv.(4) In_channel.input_all))
