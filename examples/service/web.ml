open Concord
open Http_service

type t = { sockets : Unix.file_descr list; limits : Http_limits.t }

(* Each domain closes its own copy of the socket. *)
let listen ~port ~domains limits =
  (* Without this, writing to a client that has disconnected would end the program. Now the
     write fails with an error. *)
  Sys.set_signal Sys.sigpipe Signal_ignore;
  let socket = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.setsockopt socket SO_REUSEADDR true;
  (* Limits the send buffer of each connection. By default, thousands of old events would wait
     there for a slow client. *)
  Unix.setsockopt_int socket SO_SNDBUF 16_384;
  Unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, port));
  Unix.listen socket 128;
  let copy _ = Unix.dup ~cloexec:true socket in
  { sockets = socket :: List.init (domains - 1) copy; limits }

let port t =
  match Unix.getsockname (List.hd t.sockets) with
  | ADDR_INET (_, port) -> port
  | ADDR_UNIX _ -> assert false (* [listen] binds to an internet address *)

(* Descriptors that the database may need while clients have all others. *)
let spare = 32

let serve t ~stop ~log handle =
  let { Http_limits.max_connections; idle_timeout; transfer_timeout } =
    t.limits
  in
  let drain = Promise.map ignore stop in
  let affordable =
    Http_message.Descriptors.at_most max_connections ~spare (List.hd t.sockets)
  in
  let max_connections = max 1 (affordable / List.length t.sockets) in
  let serve socket () =
    Eio_host.with_listener socket @@ fun host ->
    (* The caller limits the time after the signal. *)
    Server.run
      { idle_timeout; transfer_timeout; drain; log }
      ~max_connections ~grace:infinity host handle
  in
  List.map serve t.sockets
