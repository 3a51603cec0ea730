module Aio = Concord_aio

let random_id () =
  let fd = Unix.openfile "/dev/urandom" [ O_RDONLY; O_CLOEXEC ] 0 in
  Fun.protect ~finally:(fun () -> Unix.close fd) @@ fun () ->
  let b = Bytes.create 2 in
  if Unix.read fd b 0 2 < 2 then raise End_of_file;
  Bytes.get_uint16_be b 0

let with_connected kind server f =
  let fd = Unix.socket ~cloexec:true (Unix.domain_of_sockaddr server) kind 0 in
  Fun.protect ~finally:(fun () -> Aio.close fd) @@ fun () ->
  Aio.connect fd server;
  f fd

(* "No error" and "no such name" must name the question. Otherwise, a server's late answer to
   another query with the same id would be believed. *)
let answers ~id name kind (m : Message.t) =
  m.is_response && m.id = id
  &&
  match m.questions with
  | [] -> m.code <> 0 && m.code <> 3
  | questions -> questions = [ (name, Some kind) ]

(* This is enough, because without extensions (RFC 6891) a server sends at most 512 bytes. *)
let longest_datagram = 4096

(* The socket is connected, so the system drops datagrams of other senders. *)
let by_udp server name kind =
  with_connected SOCK_DGRAM server @@ fun fd ->
  let id = random_id () and b = Bytes.create longest_datagram in
  let query = Message.query ~id name kind in
  ignore (Aio.send_substring fd query 0 (String.length query) [] : int);
  let rec receive () =
    let n = Aio.recv fd b 0 longest_datagram [] in
    let s = Bytes.sub_string b 0 n in
    match Message.head s with
    | m when answers ~id name kind m -> Message.decode s
    | _ | (exception Message.Malformed _) -> receive ()
  in
  receive ()

let read_exactly fd n =
  let b = Bytes.create n in
  let rec from pos =
    if pos < n then
      match Aio.read fd b pos (n - pos) with
      | 0 -> raise End_of_file
      | more -> from (pos + more)
  in
  from 0;
  Bytes.unsafe_to_string b

let by_tcp server name kind =
  with_connected SOCK_STREAM server @@ fun fd ->
  let id = random_id () in
  let query = Message.query ~id name kind in
  let framed = Buffer.create 64 in
  Buffer.add_uint16_be framed (String.length query);
  Buffer.add_string framed query;
  let framed = Buffer.contents framed in
  ignore (Aio.write_substring fd framed 0 (String.length framed) : int);
  let m =
    Message.decode
      (read_exactly fd (String.get_uint16_be (read_exactly fd 2) 0))
  in
  if not (answers ~id name kind m) then
    raise (Message.Malformed "it answers another question");
  m

let ask server name kind =
  let m = by_udp server name kind in
  if m.is_truncated then by_tcp server name kind else m
