(* Tests wait for the server with a deadline, and never leave a server behind. *)

type program = { name : string; options : string list }
type t = { pid : int; port : int; program : program; stderr : string }

let program name options = { name; options }
let name program = program.name
let path program = Filename.concat ".." (program.name ^ ".exe")

let poll what condition =
  let deadline = Unix.gettimeofday () +. 15. in
  let rec wait () =
    if not (condition ()) then
      if Unix.gettimeofday () > deadline then
        Alcotest.failf "timed out: %s" what
      else (
        Unix.sleepf 0.01;
        wait ())
  in
  wait ()

let read_file file = In_channel.with_open_bin file In_channel.input_all
let complaints t = read_file t.stderr

let spawn command ~stdout ~stderr =
  let command = Array.of_list command in
  Unix.create_process command.(0) command Unix.stdin stdout stderr

let with_limit limit command =
  match limit with
  | None -> command
  | Some n ->
      let script = Printf.sprintf "ulimit -n %d; exec \"$0\" \"$@\"" n in
      "/bin/sh" :: "-c" :: script :: command

let start ?limit program options =
  let stderr = Filename.temp_file program.name ".stderr" in
  at_exit (fun () -> Sys.remove stderr);
  let from_server, stdout = Unix.pipe ~cloexec:true () in
  let stderr_fd = Unix.openfile stderr [ O_WRONLY; O_CLOEXEC ] 0 in
  let pid =
    spawn
      (with_limit limit
         (path program :: "--port=0" :: "--domains=2"
         :: (program.options @ options)))
      ~stdout ~stderr:stderr_fd
  in
  Unix.close stdout;
  Unix.close stderr_fd;
  at_exit (fun () ->
      try Unix.kill pid Sys.sigkill with Unix.Unix_error _ -> ());
  let output = Unix.in_channel_of_descr from_server in
  match In_channel.input_line output with
  | None -> Alcotest.failf "the server did not start: %s" (read_file stderr)
  | Some line ->
      In_channel.close output;
      Scanf.sscanf line "%s@: listening on http://127.0.0.1:%d%!"
        (fun name port ->
          Alcotest.(check string) "name" program.name name;
          { pid; port; program; stderr })

let terminate t = Unix.kill t.pid Sys.sigterm

let await_end t =
  let status = ref None in
  poll "the end of the server" (fun () ->
      match Unix.waitpid [ WNOHANG ] t.pid with
      | 0, _ -> false
      | _, ended ->
          status := Some ended;
          true);
  Option.get !status

let await_exit t =
  match await_end t with
  | WEXITED code -> code
  | WSIGNALED n | WSTOPPED n -> Alcotest.failf "got signal %d" n

let cpu_seconds t = Process_time.seconds t.pid

let with_server program options test =
  let t = start program options in
  test t;
  terminate t;
  Alcotest.(check int) "exit code" 0 (await_exit t);
  Alcotest.(check string) "standard error" "" (complaints t)

let on_port program options f = with_server program options (fun t -> f t.port)

let output_of program arguments =
  let from_child, stdout = Unix.pipe ~cloexec:true () in
  let pid = spawn (program :: arguments) ~stdout ~stderr:stdout in
  Unix.close stdout;
  let output = Unix.in_channel_of_descr from_child in
  let text = In_channel.input_all output in
  In_channel.close output;
  match snd (Unix.waitpid [] pid) with
  | WEXITED code -> (code, text)
  | WSIGNALED n | WSTOPPED n -> Alcotest.failf "%s got signal %d" program n

let run_beside t arguments = output_of (path t.program) arguments
