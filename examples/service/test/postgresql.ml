(* Debian installs these programs outside PATH, in a folder for each version. *)
let programs () =
  let debian = "/usr/lib/postgresql" in
  let versions = try Sys.readdir debian with Sys_error _ -> [||] in
  let in_debian version = Filename.concat debian version ^ "/bin"
  and in_path = String.split_on_char ':' (Sys.getenv "PATH") in
  List.find_opt
    (fun folder -> Sys.file_exists (Filename.concat folder "initdb"))
    (List.map in_debian (Array.to_list versions) @ in_path)

type server = { programs : string; folder : string }

let start programs =
  let ((output, _) as process) =
    Unix.open_process_args "./postgresql.sh" [| "postgresql.sh"; programs |]
  in
  at_exit (fun () -> ignore (Unix.close_process process : Unix.process_status));
  match In_channel.input_line output with
  | None -> failwith "PostgreSQL did not start"
  | Some folder -> { programs; folder }

let server =
  lazy
    (match programs () with
    | None -> Error "initdb is not installed"
    | Some _ when not Drivers.postgresql ->
        Error "caqti-driver-postgresql is not installed"
    | Some programs -> Ok (start programs))

let databases = ref 0

let server () =
  match Lazy.force server with
  | Ok server -> server
  | Error reason ->
      Printf.printf "%s: not tested with PostgreSQL\n" reason;
      Alcotest.skip ()

let create_database () =
  let { programs; folder } = server () in
  incr databases;
  let name = Printf.sprintf "jobs%d" !databases in
  let command =
    Filename.quote_command
      (Filename.concat programs "createdb")
      [ "--host=" ^ folder; "--username=test"; name ]
  in
  if Sys.command command <> 0 then Alcotest.failf "createdb %s failed" name;
  Printf.sprintf "postgresql:///%s?host=%s&user=test" name folder

(* All processes of the server have this working directory. *)
let signal_all number =
  let data = Filename.concat (server ()).folder "data" in
  Array.iter
    (fun pid ->
      match Unix.readlink (Printf.sprintf "/proc/%s/cwd" pid) with
      | folder when folder = data -> Unix.kill (int_of_string pid) number
      | _ | (exception Unix.Unix_error _) -> ())
    (Sys.readdir "/proc")

let out_of_reach f =
  signal_all Sys.sigstop;
  Lwt.finalize f (fun () -> Lwt.return (signal_all Sys.sigcont))
