(* Handles the command line, the socket and the signals. *)

open Cmdliner
open Http_message

type options = {
  address : Unix.inet_addr;
  port : int;
  domains : int;
  max_n : int;
  limits : Http_limits.t;
  grace : float;
}

let domains t = t.domains
let max_n t = t.max_n

(* --- The command line --- *)

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

let option name kind ~default ~docv doc =
  Arg.(value & opt kind default & info [ name ] ~docv ~doc)

let options =
  let make address port domains max_n limits grace =
    { address; port; domains; max_n; limits; grace }
  in
  Term.(
    const make
    $ option "address" address ~default:Unix.inet_addr_loopback ~docv:"ADDRESS"
        "The address to listen on."
    $ option "port"
        (Http_limits.between 0 65535 Arg.int)
        ~default:8080 ~docv:"PORT"
        "The port to listen on. 0 takes a free one. The server prints its port."
    $ option "domains"
        (Http_limits.between 1 100 Arg.int)
        ~default:(Domain.recommended_domain_count ())
        ~docv:"N" "The number of domains that compute."
    $ option "max-n"
        (Http_limits.between 0 90 Arg.int)
        ~default:45 ~docv:"N"
        "The largest Fibonacci number that a client may ask for."
    $ Http_limits.term ()
    $ option "grace" Http_limits.duration ~default:30. ~docv:"SECONDS"
        "The time in seconds that requests in progress may still take after \
         SIGTERM.")

let signals =
  `P
    "On SIGTERM or SIGINT the server accepts no more connections, closes the \
     idle ones, completes the requests in progress and exits with code 0."

(* --- The socket and the signals --- *)

let listen { address; port; _ } =
  let address = Unix.ADDR_INET (address, port) in
  let socket =
    Unix.(socket ~cloexec:true (domain_of_sockaddr address) SOCK_STREAM 0)
  in
  Unix.setsockopt socket SO_REUSEADDR true;
  Unix.bind socket address;
  Unix.listen socket 511;
  socket

let url socket =
  match Unix.getsockname socket with
  | ADDR_INET (address, port) ->
      let host = Unix.string_of_inet_addr address in
      Printf.sprintf "http://%s:%d"
        (if String.contains host ':' then "[" ^ host ^ "]" else host)
        port
  | ADDR_UNIX _ -> assert false (* [listen] was given an internet address *)

type serve = Host.t -> (Http.Request.t -> string -> Message.answer) -> unit

let run t ~name f =
  let log text = Printf.eprintf "%s: %s\n%!" name text in
  match listen t with
  | exception Unix.Unix_error (error, _, _) ->
      log
        (Printf.sprintf "cannot listen on %s port %d: %s"
           (Unix.string_of_inet_addr t.address)
           t.port (Unix.error_message error));
      1
  | socket ->
      (* Without this, writing to a client that has disconnected would end the program. Now the
         write fails with an error. *)
      Sys.set_signal Sys.sigpipe Signal_ignore;
      let { Http_limits.max_connections; idle_timeout; transfer_timeout } =
        t.limits
      in
      (* The first signal starts an orderly shutdown. A second signal ends the program at
         once. *)
      let stop = Concord.Signal.once [ Sys.sigterm; Sys.sigint ] in
      let drain = Concord.Promise.map ignore stop in
      Printf.printf "%s: listening on %s\n%!" name (url socket);
      f socket
        (Server.run
           { idle_timeout; transfer_timeout; drain; log }
           ~max_connections ~grace:t.grace);
      0
