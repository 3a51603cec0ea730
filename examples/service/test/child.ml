open Lwt.Syntax

type t = {
  pid : int;
  port : int;
  database : string;
  output : in_channel;
  stderr : string;
  mutable terminated : float;
}

type ended = {
  seconds : float;
  drained : bool;
  metrics : (string * int) list;
  complaints : string list;
}

(* SQLite waits for the disk after each row, for 5 to 15 ms on a busy machine. *)
let folder ~in_memory =
  let memory = "/dev/shm" in
  let temp_dir =
    if in_memory && Sys.file_exists memory then memory
    else Filename.get_temp_dir_name ()
  in
  let folder = Filename.temp_dir ~temp_dir "service" "" in
  at_exit (fun () ->
      ignore (Sys.command ("rm -rf " ^ Filename.quote folder) : int));
  folder

let read_file file = In_channel.with_open_bin file In_channel.input_all

let with_limit limit program arguments =
  match limit with
  | None -> (program, "service" :: arguments)
  | Some n ->
      let script = Printf.sprintf "ulimit -n %d; exec \"$0\" \"$@\"" n in
      ("/bin/sh", "sh" :: "-c" :: script :: program :: arguments)

let environment debug =
  let is_other binding =
    not (String.starts_with ~prefix:"CONCORD_DEBUG=" binding)
  in
  let others = List.filter is_other (Array.to_list (Unix.environment ())) in
  let mine = Option.map (fun words -> "CONCORD_DEBUG=" ^ words) debug in
  Array.of_list (Option.to_list mine @ others)

let start ?database ?(in_memory = false) ?limit ?debug
    ?(program = "../service.exe") options =
  let folder = folder ~in_memory in
  let database =
    Option.value database ~default:("sqlite3:" ^ folder ^ "/jobs.db")
  and stderr = Filename.concat folder "stderr" in
  let from_child, stdout = Unix.pipe ~cloexec:true () in
  let stderr_fd = Unix.openfile stderr [ O_WRONLY; O_CREAT; O_CLOEXEC ] 0o600 in
  let command, arguments =
    with_limit limit program
      ("--port=0" :: ("--database=" ^ database) :: options)
  in
  let pid =
    Unix.create_process_env command (Array.of_list arguments)
      (environment debug) Unix.stdin stdout stderr_fd
  in
  Unix.close stdout;
  Unix.close stderr_fd;
  at_exit (fun () ->
      try Unix.kill pid Sys.sigkill with Unix.Unix_error _ -> ());
  let output = Unix.in_channel_of_descr from_child in
  match In_channel.input_line output with
  | None -> Alcotest.failf "the service did not start: %s" (read_file stderr)
  | Some line ->
      let port = Scanf.sscanf line "http://localhost:%d/%!" Fun.id in
      { pid; port; database; output; stderr; terminated = nan }

let port t = t.port
let database t = t.database

let terminate t =
  t.terminated <- Unix.gettimeofday ();
  Unix.kill t.pid Sys.sigterm

let metrics text =
  String.split_on_char '\n' text
  |> List.filter_map (fun line ->
      try Scanf.sscanf line "jobs_%s %d%!" (fun name n -> Some (name, n))
      with Scanf.Scan_failure _ | End_of_file | Failure _ -> None)

let lines text = List.filter (( <> ) "") (String.split_on_char '\n' text)

let await_end t ~within =
  let rec wait () =
    match Unix.waitpid [ WNOHANG ] t.pid with
    | 0, _ when Unix.gettimeofday () > t.terminated +. within ->
        Alcotest.failf
          "the service did not end within %g s, and printed on stderr: %s"
          within (read_file t.stderr)
    | 0, _ ->
        let* () = Lwt_unix.sleep 0.01 in
        wait ()
    | _, WEXITED 0 -> Lwt.return (Unix.gettimeofday () -. t.terminated)
    | _, WEXITED n -> Alcotest.failf "exit code %d: %s" n (read_file t.stderr)
    | _, (WSIGNALED n | WSTOPPED n) ->
        Alcotest.failf "signal %d: %s" n (read_file t.stderr)
  in
  let+ seconds = wait () in
  let printed = In_channel.input_all t.output in
  In_channel.close t.output;
  {
    seconds;
    drained = List.mem "drained" (lines printed);
    metrics = metrics printed;
    complaints = lines (read_file t.stderr);
  }

let complaints t = lines (read_file t.stderr)

let set_limit t n =
  let command =
    Printf.sprintf "prlimit --pid %d --nofile=%d: 2>/dev/null" t.pid n
  in
  if Sys.command command <> 0 then Alcotest.skip ()

let folder_of_descriptors t = Printf.sprintf "/proc/%d/fd" t.pid
let descriptors t = Array.length (Sys.readdir (folder_of_descriptors t))

let sockets t =
  let folder = folder_of_descriptors t in
  let is_socket name =
    match Unix.readlink (Filename.concat folder name) with
    | target -> String.starts_with ~prefix:"socket:" target
    | exception Unix.Unix_error _ -> false
  in
  List.length (List.filter is_socket (Array.to_list (Sys.readdir folder)))

let resident_kb t =
  List.find_map
    (fun line ->
      try Scanf.sscanf line "VmRSS: %d kB" Option.some
      with Scanf.Scan_failure _ | End_of_file | Failure _ -> None)
    (lines (read_file (Printf.sprintf "/proc/%d/status" t.pid)))
  |> Option.get
