(* --- Finding them --- *)

let programs =
  [
    "./dev";
    "curl";
    "opam";
    "dune";
    "concord-trace";
    "mkdir";
    "git";
    "wrk";
    "docker";
    "ocamlfind";
    "ocaml";
    "utop";
    "gdb";
    "kill";
    "apt";
    "apt-get";
    "make";
    "cargo";
    "go";
    "python3";
  ]

let words text = List.filter (( <> ) "") (String.split_on_char ' ' text)

let is_variable word =
  match String.index_opt word '=' with
  | Some i when i > 0 ->
      String.for_all
        (function 'A' .. 'Z' | '_' -> true | _ -> false)
        (String.sub word 0 i)
  | Some _ | None -> false

let rec is_command = function
  | word :: (_ :: _ as rest) when is_variable word -> is_any rest
  | word :: _ -> List.mem word programs
  | [] -> false

(* After variables, any program may follow. *)
and is_any = function
  | word :: (_ :: _ as rest) when is_variable word -> is_any rest
  | words -> words <> []

let begins_command text = is_command (words text)
let starts prefix text = String.starts_with ~prefix text

let after prefix text =
  String.sub text (String.length prefix)
    (String.length text - String.length prefix)

let shells = [ "sh"; "shell"; "bash"; "console" ]

type place = Text | Block of string

let of_markdown place line =
  let trimmed = String.trim line in
  match place with
  | Text when starts "```" trimmed -> Block (String.trim (after "```" trimmed))
  | Block _ when trimmed = "```" -> Text
  | place -> place

(* A block of odoc begins with [{@sh[], [{@text file=x[] or, for OCaml, [{[]. *)
let of_odoc place line =
  let trimmed = String.trim line in
  match place with
  | Text when starts "{@" trimmed && String.ends_with ~suffix:"[" trimmed ->
      let name = after "{@" trimmed in
      let stop c = c = '[' || c = ' ' in
      let rec length i =
        if i < String.length name && not (stop name.[i]) then length (i + 1)
        else i
      in
      Block (String.sub name 0 (length 0))
  | Text when trimmed = "{[" || trimmed = "{v" -> Block "ocaml"
  | Block _ when starts "]}" trimmed || starts "v}" trimmed -> Text
  | place -> place

(* The pieces of code in running text. *)
let inline ~odoc line =
  let left, right = if odoc then ('[', ']') else ('`', '`') in
  let rec from i found =
    match String.index_from_opt line i left with
    | None -> List.rev found
    | Some start -> (
        match String.index_from_opt line (start + 1) right with
        | None -> List.rev found
        | Some stop ->
            let code = String.sub line (start + 1) (stop - start - 1) in
            from (stop + 1) (code :: found))
  in
  from 0 []

let in_line ~odoc place line =
  let trimmed = String.trim line in
  match place with
  | Block "ocaml" | Block "dune" -> []
  | Block language when List.mem language shells ->
      if trimmed = "" then []
      else if starts "$ " trimmed then [ after "$ " trimmed ]
      else if language = "console" then []
      else [ trimmed ]
  | Block _ ->
      if starts "$ " trimmed then [ after "$ " trimmed ]
      else if begins_command trimmed then [ trimmed ]
      else []
  | Text ->
      let is_indented = (not odoc) && starts "    " line in
      if is_indented && begins_command trimmed then [ trimmed ]
      else
        List.filter
          (fun code -> begins_command code && List.length (words code) > 1)
          (inline ~odoc line)

let in_file name =
  let odoc = Filename.check_suffix name ".mld" in
  let next = if odoc then of_odoc else of_markdown in
  let lines = In_channel.with_open_bin name In_channel.input_all in
  let step (place, found) line =
    let after = next place line in
    let found =
      if after <> place then found
      else List.rev_append (in_line ~odoc place line) found
    in
    (after, found)
  in
  let _, found =
    List.fold_left step (Text, []) (String.split_on_char '\n' lines)
  in
  List.rev found

(* --- Running them --- *)

let limit = 60. (* in seconds *)

let poll what condition =
  let deadline = Unix.gettimeofday () +. limit in
  let rec wait () =
    if not (condition ()) then
      if Unix.gettimeofday () > deadline then
        Alcotest.failf "timed out: %s" what
      else (
        Unix.sleepf 0.02;
        wait ())
  in
  wait ()

let read name = In_channel.with_open_bin name In_channel.input_all

let write ?(perm = 0o644) name text =
  let flags = [ Open_wronly; Open_creat; Open_trunc ] in
  Out_channel.with_open_gen flags perm name (fun file ->
      output_string file text)

let contains = Texts.contains

let replace ~part ~by text =
  let length = String.length part in
  let buffer = Buffer.create (String.length text) in
  let rec from i =
    if i < String.length text then
      if i + length <= String.length text && String.sub text i length = part
      then (
        Buffer.add_string buffer by;
        from (i + length))
      else (
        Buffer.add_char buffer text.[i];
        from (i + 1))
  in
  from 0;
  Buffer.contents buffer

let socket () = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0
let address port = Unix.ADDR_INET (Unix.inet_addr_loopback, port)

(* Below 32768, because the system gives the ports above that to other programs. *)
let rec free_port () =
  let port = 10_000 + Random.int 20_000 in
  let socket = socket () in
  Unix.setsockopt socket SO_REUSEADDR true;
  match Unix.bind socket (address port) with
  | () ->
      Unix.close socket;
      port
  | exception Unix.Unix_error (EADDRINUSE, _, _) ->
      Unix.close socket;
      free_port ()

let is_listening port =
  let socket = socket () in
  Fun.protect ~finally:(fun () -> Unix.close socket) @@ fun () ->
  match Unix.connect socket (address port) with
  | () -> true
  | exception Unix.Unix_error (ECONNREFUSED, _, _) -> false

let absolute name =
  if Filename.is_relative name then Filename.concat (Sys.getcwd ()) name
  else name

(* [./dev exec NAME ...] becomes the program itself, which writes its number to a file. *)
let dev programs =
  let case (name, file) =
    Printf.sprintf "  %s) program=%s ;;\n" name (Filename.quote (absolute file))
  in
  Printf.sprintf
    "#!/bin/sh\n\
     name=$2; shift 2\n\
     case $name in\n\
     %s  *) exit 125 ;;\n\
     esac\n\
     echo $$ >\"$PIDS/$$\"\n\
     exec \"$program\" \"$@\"\n"
    (String.concat "" (List.map case programs))

let kill signal pid =
  try Unix.kill pid signal with Unix.Unix_error (ESRCH, _, _) -> ()

let started folder =
  List.filter_map int_of_string_opt
    (Array.to_list (Sys.readdir (Filename.concat folder "pids")))

let spawn folder command ~output =
  let output = Unix.openfile output [ O_WRONLY; O_CREAT; O_CLOEXEC ] 0o600 in
  let nothing = Unix.openfile "/dev/null" [ O_RDONLY; O_CLOEXEC ] 0 in
  let script =
    Printf.sprintf "cd %s; export HOME=$PWD PIDS=$PWD/pids; %s"
      (Filename.quote folder) command
  in
  let pid =
    Unix.create_process "/bin/sh" [| "sh"; "-c"; script |] nothing output output
  in
  Unix.close output;
  Unix.close nothing;
  pid

let await_success command pid ~output =
  let status = ref None in
  poll command (fun () ->
      match Unix.waitpid [ WNOHANG ] pid with
      | 0, _ -> false
      | _, ended ->
          status := Some ended;
          true);
  if !status <> Some (WEXITED 0) then
    Alcotest.failf "%s failed: %s" command (read output)

(* Which of these programs the command runs with [./dev exec]. *)
let rec executed = function
  | "./dev" :: "exec" :: name :: _ -> Some name
  | _ :: rest -> executed rest
  | [] -> None

let run ?again ~readme ~programs ~ports check =
  Random.self_init ();
  let ports = List.map (fun port -> (port, free_port ())) ports in
  let folder = Filename.temp_dir "concord" "commands" in
  let in_folder = Filename.concat folder in
  Unix.mkdir (in_folder "pids") 0o700;
  write ~perm:0o755 (in_folder "dev") (dev programs);
  write (in_folder ".curlrc") "fail\nsilent\nshow-error\nmax-time = 50\n";
  let streams = ref [] in
  let finally () =
    List.iter (kill Sys.sigkill) (started folder @ !streams);
    ignore (Sys.command ("rm -rf " ^ Filename.quote folder) : int)
  in
  Fun.protect ~finally @@ fun () ->
  let replace_ports shown =
    List.fold_left
      (fun text (shown, free) ->
        replace ~part:(string_of_int shown) ~by:(string_of_int free) text)
      shown ports
  in
  let run_again () =
    match again with
    | None -> ()
    | Some part ->
        let output = in_folder "output.again" in
        let repeat shown =
          if contains shown ~part then
            await_success shown
              (spawn folder (replace_ports shown) ~output)
              ~output
        in
        List.iter repeat (in_file readme)
  in
  let perform i shown =
    let output = in_folder (Printf.sprintf "output.%d" i) in
    let command = replace_ports shown in
    let is_other = starts "./dev " shown && not (starts "./dev exec " shown) in
    match executed (words shown) with
    | None when is_other -> ()
    | Some name when not (List.mem_assoc name programs) -> ()
    | Some _ ->
        ignore (spawn folder command ~output : int);
        let own (shown_port, free) =
          let option name separator =
            contains shown
              ~part:(Printf.sprintf "--%s%s%d" name separator shown_port)
          in
          if
            option "port" " " || option "port" "=" || option "rpc" " "
            || option "rpc" "="
          then poll (shown ^ ": " ^ read output) (fun () -> is_listening free)
        in
        List.iter own ports
    | None when contains shown ~part:"curl -N" ->
        streams := spawn folder ("exec " ^ command) ~output :: !streams;
        poll shown (fun () ->
            String.contains (read output) '\n'
            || begin
              run_again ();
              false
            end);
        check shown (read output)
    | None ->
        await_success shown (spawn folder command ~output) ~output;
        check shown (read output)
  in
  List.iteri perform (in_file readme)
