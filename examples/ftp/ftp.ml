(* An FTP server in trampolined style. It supports only anonymous users and passive mode, and
   clients can write only into one folder. A session is a thread, and a socket that becomes
   ready is an event. README.md has more.

   ./dev exec ftp --root /srv/ftp --port 2121 *)

open Concord
open Concord_styles.Trampoline
open Ftp_service

(* If no descriptor is left, new clients wait until a session has ended. [Concord_aio.run_server]
   can't be used, because it is in direct style, and serves each client by a function that ends. *)
let rec accept_all server listener =
  Wire.accept ~patience:infinity listener >>= function
  | Ok (socket, peer) ->
      spawn (fun () -> Session.start server socket peer);
      yield >>= fun () -> accept_all server listener
  | Error _ ->
      sync (Event.timeout 0.05) >>= fun () -> accept_all server listener

let run address port root upload max_sessions patience =
  match
    if not (Sys.is_directory root) then
      raise (Unix.Unix_error (ENOTDIR, "", root));
    Wire.listen (ADDR_INET (address, port))
  with
  | exception Sys_error reason ->
      prerr_endline ("ftp: " ^ reason);
      1
  | exception Unix.Unix_error (error, _, argument) ->
      Printf.eprintf "ftp: cannot listen on %s port %d with root %s: %s\n%!"
        (Unix.string_of_inet_addr address)
        port root
        (String.concat " " [ Unix.error_message error; argument ]);
      1
  | listener ->
      (* Without this, writing to a client that has disconnected would end the program. Now the
         write fails with an error. *)
      Sys.set_signal Sys.sigpipe Signal_ignore;
      let terminated = Signal.once [ Sys.sigterm; Sys.sigint ] in
      let tree = Tree.create ~root ~upload in
      let log text = prerr_endline ("ftp: " ^ text) in
      let server = Session.server tree ~log ~max_sessions ~patience in
      spawn (fun () -> accept_all server listener);
      spawn (fun () -> sync (Promise.await_evt terminated) >>= fun _ -> stop ());
      (match Unix.getsockname listener with
      | ADDR_INET (_, port) ->
          Printf.printf "ftp: listening on port %d\n%!" port
      | ADDR_UNIX _ -> assert false (* [listen] was given an internet address *));
      start ();
      0

(* --- The command line --- *)

open Cmdliner

let option name kind ~default ~docv doc =
  Arg.(value & opt kind default & info [ name ] ~docv ~doc)

let address =
  let parse text =
    try Ok (Unix.inet_addr_of_string text)
    with Failure _ ->
      Error (`Msg (Printf.sprintf "%S is not an IP address" text))
  in
  let print ppf address =
    Format.pp_print_string ppf (Unix.string_of_inet_addr address)
  in
  Arg.conv (parse, print)

let positive =
  let parse text =
    match Arg.conv_parser Arg.float text with
    | Ok seconds when not (seconds > 0.) -> Error (`Msg "must be positive")
    | parsed -> parsed
  in
  Arg.conv (parse, Arg.conv_printer Arg.float)

let command =
  Cmd.v
    (Cmd.info "ftp" ~doc:"an FTP server in trampolined style")
    Term.(
      const run
      $ option "address" address ~default:Unix.inet_addr_loopback
          ~docv:"ADDRESS" "The address to listen on."
      $ option "port" Arg.int ~default:2121 ~docv:"PORT"
          "The port to listen on. 0 takes a free one. The server prints its \
           port."
      $ option "root" Arg.dir ~default:"." ~docv:"FOLDER"
          "The folder that clients can read."
      $ option "upload" Arg.string ~default:"upload" ~docv:"NAME"
          "The folder in the root in which clients can store new files."
      $ option "max-sessions" Arg.int ~default:1000 ~docv:"N"
          "How many clients are served at a time. The server refuses more."
      $ option "patience" positive ~default:60. ~docv:"SECONDS"
          "How long a session waits for its client.")

let () = exit (Cmd.eval' command)
