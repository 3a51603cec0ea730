open Concord_test_support

type t = { port : int; root : string; pid : int }

let big = String.init 8_000_000 (fun i -> Char.chr (i * i / 7 land 255))
let read file = In_channel.with_open_bin file In_channel.input_all
let contents t name = read (Filename.concat t.root name)

let output_of command =
  let pipe =
    Unix.open_process_args_in (List.hd command) (Array.of_list command)
  in
  let text = In_channel.input_all pipe in
  match Unix.close_process_in pipe with
  | WEXITED code -> (code, text)
  | WSIGNALED n | WSTOPPED n ->
      Alcotest.failf "%s: signal %d" (List.hd command) n

let descriptors t =
  match Sys.readdir (Printf.sprintf "/proc/%d/fd" t.pid) with
  | names -> Some (Array.length names)
  | exception Sys_error _ -> None

let has_descriptor t number =
  (* the link may lead to a socket *)
  match Unix.lstat (Printf.sprintf "/proc/%d/fd/%d" t.pid number) with
  | _ -> true
  | exception Unix.Unix_error _ -> false

let make_root () =
  let root = Filename.temp_dir "concord" "ftp" in
  let in_root = Filename.concat root in
  let write name text =
    Out_channel.with_open_bin (in_root name) (fun file ->
        output_string file text)
  in
  List.iter (fun name -> Unix.mkdir (in_root name) 0o755) [ "sub"; "upload" ];
  write "hello.txt" "hello\r\n";
  write "big" big;
  write "sub/deep.txt" "deep";
  Unix.symlink "/" (in_root "outside");
  Unix.symlink "../hello.txt" (in_root "sub/link.txt");
  Unix.mkfifo (in_root "fifo") 0o644;
  root

let remove root =
  ignore (output_of [ "rm"; "-rf"; root; root ^ ".stderr" ] : int * string)

let with_limit limit command =
  match limit with
  | None -> command
  | Some n ->
      let script = Printf.sprintf "ulimit -n %d; exec \"$0\" \"$@\"" n in
      "/bin/sh" :: "-c" :: script :: command

let spawn ?limit root options =
  let complaints = root ^ ".stderr" in
  let stderr =
    Unix.openfile complaints [ O_CREAT; O_WRONLY; O_CLOEXEC ] 0o600
  in
  let from_server, stdout = Unix.pipe ~cloexec:true () in
  let command =
    Array.of_list
      (with_limit limit
         ("../ftp.exe" :: "--port=0" :: "--root" :: root :: options))
  in
  let pid = Unix.create_process command.(0) command Unix.stdin stdout stderr in
  at_exit (fun () ->
      try Unix.kill pid Sys.sigkill with Unix.Unix_error _ -> ());
  Unix.close stdout;
  Unix.close stderr;
  let output = Unix.in_channel_of_descr from_server in
  let line = In_channel.input_line output in
  In_channel.close output;
  match line with
  | Some line ->
      let port = Scanf.sscanf line "ftp: listening on port %d" Fun.id in
      { port; root; pid }
  | None -> Alcotest.failf "the server did not start: %s" (read complaints)

let check_end t =
  Unix.kill t.pid Sys.sigterm;
  let status = ref None in
  Check.eventually "waiting for the end of the server" (fun () ->
      match Unix.waitpid [ WNOHANG ] t.pid with
      | 0, _ -> false
      | _, ended ->
          status := Some ended;
          true);
  Check.yes "exit code" (!status = Some (WEXITED 0));
  Alcotest.(check string) "standard error" "" (read (t.root ^ ".stderr"))

(* The poller opens its descriptors when the server first waits. So this makes the server wait
   for a client that takes all of [big]. *)
let at_rest t =
  let client = Client.login t.port in
  Check.yes "big" (Client.retrieve client "RETR big" = (226, big));
  let n = Option.map pred (descriptors t) in
  Client.close client;
  Check.eventually "it is closed" (fun () -> descriptors t = n);
  n

let with_server ?limit ?(options = []) test =
  let root = make_root () in
  Fun.protect ~finally:(fun () -> remove root) @@ fun () ->
  let t = spawn ?limit root options in
  let before = at_rest t in
  test t;
  Check.eventually "descriptors as before" (fun () -> descriptors t = before);
  check_end t
