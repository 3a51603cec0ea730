(* This client does only the minimum, because the measuring process shares the machine with the
   server that it measures. *)

type t = {
  socket : Eio_unix.Net.stream_socket_ty Eio.Resource.t;
  reader : Eio.Buf_read.t;
  mutable usable : bool;
}

let connect ~sw net address =
  let socket = Eio.Net.connect ~sw net address in
  Eio.Net.(setsockopt socket Sockopt.TCP_NODELAY true);
  let reader = Eio.Buf_read.of_flow socket ~initial_size:1024 ~max_size:16384 in
  { socket; reader; usable = true }

let rec read_headers reader headers =
  match Eio.Buf_read.line reader with
  | "" -> headers
  | line -> (
      match String.index_opt line ':' with
      | None -> failwith ("bad header: " ^ line)
      | Some i ->
          let name = String.lowercase_ascii (String.sub line 0 i) in
          let value = String.sub line (i + 1) (String.length line - i - 1) in
          read_headers reader ((name, String.trim value) :: headers))

let receive t path =
  let status = Eio.Buf_read.line t.reader in
  if not (String.starts_with ~prefix:"HTTP/1.1 200 " status) then
    failwith (path ^ ": " ^ status);
  let headers = read_headers t.reader [] in
  let length = List.assoc "content-length" headers in
  (match Decimal.int length with
  | Some length -> Eio.Buf_read.skip length t.reader
  | None -> failwith (path ^ ": the length of the answer is " ^ length));
  headers

let get t path =
  t.usable <- false;
  Eio.Flow.copy_string
    (Printf.sprintf "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" path)
    t.socket;
  match receive t path with
  | headers ->
      t.usable <- true;
      headers
  | exception (End_of_file | Not_found) ->
      failwith (path ^ ": the server's answer is incomplete")

let usable t = t.usable
let close t = Eio.Net.close t.socket
