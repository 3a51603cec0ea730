open Concord_styles.Trampoline
open Wire

type server = {
  tree : Tree.t;
  log : string -> unit;
  max_sessions : int;
  patience : float;
  mutable sessions : int;
}

let server tree ~log ~max_sessions ~patience =
  { tree; log; max_sessions; patience; sessions = 0 }

type login = Unknown | Named | Logged_in

(* The state of a session. It is passed to the continuation of each step. *)
type t = {
  server : server;
  control : Unix.file_descr;
  peer : Unix.sockaddr;
  received : string;  (** What has been read of the next lines. *)
  login : login;
  folder : Tree.path;
  passive : Unix.file_descr option;  (** Listens for the data connection. *)
  data : Unix.file_descr option;  (** The data connection. *)
  offset : int;  (** Set by REST. *)
}

(* --- Exceptions --- *)

(* An exception that nothing expects is a fault of the server. It ends only the session in which
   it was raised. No [try] is around what comes after an operation that has waited, so [guard]
   puts one around each such part: an operation [>>=>] a part. *)
let rec closing descriptors k =
  match descriptors with
  | [] -> k ()
  | first :: others -> close first >>= fun () -> closing others k

let close_all t k =
  closing (t.control :: (Option.to_list t.passive @ Option.to_list t.data)) k

let hang_up t =
  close_all t @@ fun () -> t.server.sessions <- t.server.sessions - 1

let guard t f =
  try f () with
  | Concord_styles.Ended as e -> raise_notrace e
  | e ->
      t.server.log ("a session failed: " ^ Printexc.to_string e);
      hang_up t

(* [after t operation k] performs the operation, and then [k] as a part of the session [t]. *)
let after t operation k =
  guard t @@ fun () ->
  operation >>= fun v -> guard t (fun () -> k v)

(* --- The control connection --- *)

let without_passive t k =
  match t.passive with
  | None -> k t
  | Some listener ->
      after t (close listener) @@ fun () -> k { t with passive = None }

let reply_lines t text k =
  after t (send ~patience:t.server.patience t.control text) @@ function
  | Ok () -> k t
  | Error _ -> hang_up t

let reply t code text = reply_lines t (Printf.sprintf "%d %s\r\n" code text)
let max_line = 4096

let rec line t k =
  match String.index_opt t.received '\n' with
  | Some i ->
      let rest = String.length t.received - i - 1 in
      let text = String.sub t.received 0 i in
      let received = String.sub t.received (i + 1) rest in
      let cr = i > 0 && text.[i - 1] = '\r' in
      k { t with received } (if cr then String.sub text 0 (i - 1) else text)
  | None when String.length t.received > max_line ->
      reply t 500 "Line too long." hang_up
  | None -> (
      let buffer = Bytes.create 256 in
      after t (receive ~patience:t.server.patience t.control buffer) @@ function
      | Ok 0 -> hang_up t
      | Ok n ->
          line { t with received = t.received ^ Bytes.sub_string buffer 0 n } k
      | Error (code, reason) -> reply t code reason hang_up)

(* --- Data connections --- *)

let address_of = function
  | Unix.ADDR_INET (address, _) -> address
  | ADDR_UNIX _ -> assert false (* the listener has an internet address *)

(* Listens for a data connection. [describe] makes the reply that names the port to which the
   client should connect. *)
let passive t describe k =
  without_passive t @@ fun t ->
  match
    let here = address_of (Unix.getsockname t.control) in
    let listener = listen (ADDR_INET (here, 0)) in
    (listener, Unix.getsockname listener)
  with
  | exception Unix.Unix_error (error, _, _) ->
      reply t 425 (Unix.error_message error) k
  | _, ADDR_UNIX _ -> assert false (* [listen] was given an internet address *)
  | listener, ADDR_INET (address, port) ->
      let code, text = describe (Unix.string_of_inet_addr address) port in
      reply { t with passive = Some listener } code text k

let pasv address port =
  if String.contains address ':' then (425, "PASV is for IPv4. Use EPSV.")
  else
    let comma = String.map (function '.' -> ',' | c -> c) address in
    ( 227,
      Printf.sprintf "Entering Passive Mode (%s,%d,%d)." comma (port / 256)
        (port mod 256) )

let epsv _ port =
  (229, Printf.sprintf "Entering Extended Passive Mode (|||%d|)" port)

(* Accepts only a connection from the client's own address, so that no other machine gets the
   client's data. *)
let data_connection t listener =
  accept ~patience:t.server.patience listener >>? fun (data, peer) ->
  if address_of peer = address_of t.peer then succeed data
  else fun k ->
    close data >>= fun () -> k (Error (425, "Connect from your own address"))

(* During a transfer the control connection is not read, so there is no ABOR. *)
let transfer t body k =
  match t.passive with
  | None -> reply t 425 "Use PASV or EPSV first." k
  | Some listener -> (
      reply t 150 "Opening the data connection." @@ fun t ->
      after t (data_connection t listener) @@ fun connected ->
      let t = { t with offset = 0; data = Result.to_option connected } in
      without_passive t @@ fun t ->
      match connected with
      | Error (_, reason) -> reply t 425 (reason ^ ".") k
      | Ok data -> (
          after t (body data) @@ fun outcome ->
          after t (close data) @@ fun () ->
          let t = { t with data = None } in
          match outcome with
          | Ok () -> reply t 226 "Done." k
          | Error (421, reason) -> reply t 421 (reason ^ ".") hang_up
          | Error (code, reason) -> reply t code (reason ^ ".") k))

let retrieve t path data =
  with_file (Tree.file t.server.tree path) [ O_RDONLY ] @@ fun file ->
  seek file t.offset >>? fun () ->
  download ~patience:t.server.patience data ~from:file

(* Removes the file if it is incomplete. FTP can't always tell, because the end of the data
   connection is the end of the file. *)
let store t path data k =
  let name = Tree.file t.server.tree path in
  let flags = Unix.[ O_WRONLY; O_CREAT; O_EXCL ] in
  let body file k =
    upload ~patience:t.server.patience data ~to_:file >>= function
    | Ok () -> k (Ok ())
    | Error _ as error -> remove name >>= fun _ -> k error
  in
  with_file name flags body k

(* --- Commands --- *)

let long (name, { Unix.st_kind; st_size; st_mtime; _ }) =
  let mode = if st_kind = S_DIR then "drwxr-xr-x" else "-rw-r--r--" in
  let time = Unix.gmtime st_mtime in
  let months = "JanFebMarAprMayJunJulAugSepOctNovDec" in
  Printf.sprintf "%s 1 ftp ftp %12d %s %2d  %4d %s\r\n" mode st_size
    (String.sub months (3 * time.tm_mon) 3)
    time.tm_mday (1900 + time.tm_year) name

let short (name, _) = name ^ "\r\n"

let modified { Unix.st_mtime; _ } =
  let time = Unix.gmtime st_mtime in
  Printf.sprintf "%04d%02d%02d%02d%02d%02d" (1900 + time.tm_year)
    (1 + time.tm_mon) time.tm_mday time.tm_hour time.tm_min time.tm_sec

(* Looks at the path that the argument names, and calls [f] with what is there, or tells the client
   why that failed. *)
let at t argument look f k =
  let path = Tree.resolve t.folder argument in
  after t (Wire.look (fun () -> look t.server.tree path)) @@ function
  | Ok found -> f path found k
  | Error (code, reason) -> reply t code (reason ^ ".") k

let if_kind t kind (stats : Unix.stats) continue k =
  if stats.st_kind = kind then continue k
  else
    reply t 550
      (if kind = S_DIR then "Not a directory." else "Not a plain file.")
      k

let enter t argument =
  at t argument Tree.stat @@ fun path stats ->
  if_kind t S_DIR stats
  @@ reply { t with folder = path } 250 ("In " ^ Tree.to_string path ^ ".")

let of_file t argument f =
  at t argument Tree.stat @@ fun path stats ->
  if_kind t S_REG stats (f path stats)

(* Clients pass options of the command [ls], which are ignored. *)
let listing t argument format =
  let argument =
    if String.starts_with ~prefix:"-" argument then "" else argument
  in
  at t argument Tree.list @@ fun _ entries ->
  let text = List.map format entries in
  transfer t (fun data ->
      send ~patience:t.server.patience data (String.concat "" text))

let may_store t path k =
  after t (Wire.look (fun () -> Tree.may_store t.server.tree path))
  @@ fun outcome -> k (outcome = Ok true)

let features =
  "211-Features:\r\n\
  \ EPSV\r\n\
  \ MDTM\r\n\
  \ REST STREAM\r\n\
  \ SIZE\r\n\
  \ UTF8\r\n\
   211 End\r\n"

let quoted path =
  let double = String.concat "\"\"" (String.split_on_char '"' path) in
  Printf.sprintf "\"%s\" is the current folder." double

let for_member t verb argument k =
  match (verb, argument) with
  | "TYPE", ("A" | "A N" | "I" | "L 8") ->
      reply t 200 "Files are sent as they are." k
  | "TYPE", _ -> reply t 504 "Only A and I." k
  | "PWD", _ -> reply t 257 (quoted (Tree.to_string t.folder)) k
  | "CWD", folder -> enter t folder k
  | "CDUP", _ -> enter t ".." k
  | "PASV", _ -> passive t pasv k
  | "EPSV", _ -> passive t epsv k
  | "LIST", name -> listing t name long k
  | "NLST", name -> listing t name short k
  | "REST", offset -> (
      match Decimal.int offset with
      | Some offset -> reply { t with offset } 350 "RETR will begin there." k
      | None -> reply t 501 "Not a position." k)
  | "RETR", name ->
      of_file t name
        (fun path { Unix.st_size; _ } k ->
          if t.offset > st_size then
            reply { t with offset = 0 } 554 "The file ends before." k
          else transfer t (retrieve t path) k)
        k
  | "STOR", name -> (
      let path = Tree.resolve t.folder name in
      if t.offset > 0 then
        reply { t with offset = 0 } 554 "REST works only with RETR." k
      else
        may_store t path @@ function
        | true -> transfer t (store t path) k
        | false ->
            reply t 553 "You can only store new files, in the upload folder." k)
  | "SIZE", name ->
      let size _ { Unix.st_size; _ } = reply t 213 (string_of_int st_size) in
      of_file t name size k
  | "MDTM", name ->
      of_file t name (fun _ stats -> reply t 213 (modified stats)) k
  | _ -> reply t 502 "Not here." k

let command t verb argument k =
  match (verb, argument, t.login) with
  | "QUIT", _, _ -> reply t 221 "Goodbye." hang_up
  | "NOOP", _, _ -> reply t 200 "Nothing done." k
  | "SYST", _, _ -> reply t 215 "UNIX Type: L8" k
  | "FEAT", _, _ -> reply_lines t features k
  | "USER", ("anonymous" | "ftp"), _ ->
      reply { t with login = Named } 331 "Any password will do." k
  | "USER", _, _ ->
      reply { t with login = Unknown } 530 "Only the user anonymous can log in."
        k
  | "PASS", _, Named -> reply { t with login = Logged_in } 230 "Welcome." k
  | "PASS", _, (Unknown | Logged_in) -> reply t 503 "Send USER first." k
  | _, _, Logged_in -> for_member t verb argument k
  | _, _, (Unknown | Named) -> reply t 530 "Log in first." k

let rec serve t =
  line t @@ fun t text ->
  if not (Tree.is_name text) then
    reply t 501 "Lines must not have control characters." serve
  else
    match String.index_opt text ' ' with
    | None -> command t (String.uppercase_ascii text) "" serve
    | Some i ->
        let verb = String.uppercase_ascii (String.sub text 0 i) in
        let argument = String.sub text (i + 1) (String.length text - i - 1) in
        command t verb argument serve

let start server control peer =
  server.sessions <- server.sessions + 1;
  let t =
    {
      server;
      control;
      peer;
      received = "";
      login = Unknown;
      folder = Tree.root;
      passive = None;
      data = None;
      offset = 0;
    }
  in
  guard t @@ fun () ->
  if server.sessions > server.max_sessions then
    reply t 421 "Too many sessions." hang_up
  else reply t 220 "Ready." serve
