type t = { socket : Unix.file_descr; replies : in_channel }

let to_port port =
  let socket = Unix.(socket ~cloexec:true PF_INET SOCK_STREAM 0) in
  (* A small receive buffer, so that the server soon waits for a client that reads nothing. *)
  Unix.setsockopt_int socket SO_RCVBUF 8192;
  Unix.setsockopt_float socket SO_RCVTIMEO 20.;
  Unix.setsockopt_float socket SO_SNDTIMEO 20.;
  Unix.connect socket (ADDR_INET (Unix.inet_addr_loopback, port));
  socket

let reply t =
  match In_channel.input_line t.replies with
  | Some line -> String.trim line
  | None | (exception Sys_error _) -> "-1"

let code_of line = Scanf.sscanf line "%d" Fun.id

let open_ port =
  let socket = to_port port in
  { socket; replies = Unix.in_channel_of_descr socket }

let connect port =
  let t = open_ port in
  Concord_test_support.Check.int "greeting" 220 (code_of (reply t));
  t

let write t text =
  ignore (Unix.write_substring t.socket text 0 (String.length text) : int)

let send t command = write t (command ^ "\r\n")

let ask t command =
  send t command;
  reply t

let code t command = code_of (ask t command)

let ask_all clients command =
  List.iter (fun t -> send t command) clients;
  List.map reply clients

let logins port n =
  let clients = List.init n (fun _ -> open_ port) in
  let all_say what code replies =
    List.iter
      (fun line -> Concord_test_support.Check.int what code (code_of line))
      replies
  in
  all_say "greeting" 220 (List.map reply clients);
  all_say "USER" 331 (ask_all clients "USER anonymous");
  all_say "PASS" 230 (ask_all clients "PASS me@example.com");
  clients

let login port = List.hd (logins port 1)

let open_data line =
  to_port (Scanf.sscanf line "229 %s@(|||%d|)" (fun _ port -> port))

let data t = open_data (ask t "EPSV")

let receive socket =
  let channel = Unix.in_channel_of_descr socket in
  Fun.protect
    ~finally:(fun () -> In_channel.close channel)
    (fun () -> In_channel.input_all channel)

let last t first = if first = 150 then code_of (reply t) else first

let retrieve_all clients command =
  let data = List.map open_data (ask_all clients "EPSV") in
  let firsts = List.map code_of (ask_all clients command) in
  let texts = List.map receive data in
  List.combine (List.map2 last clients firsts) texts

let retrieve t command = List.hd (retrieve_all [ t ] command)

let store t name text =
  let data = data t in
  let first = code t ("STOR " ^ name) in
  if first = 150 then
    ignore (Unix.write_substring data text 0 (String.length text) : int);
  Unix.close data;
  last t first

let reset socket =
  Unix.setsockopt_optint socket SO_LINGER (Some 0);
  Unix.close socket

let close t = In_channel.close t.replies
