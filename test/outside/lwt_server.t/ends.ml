(* How a server ends while it is answering. The first client is cohttp's own, and the others are
   sockets, because they do what a client of a library doesn't. *)

open Lwt.Syntax
module Client = Cohttp_lwt_unix.Client
module Server = Cohttp_lwt_unix.Server

let say = Printf.printf "%s\n%!"

let listen () =
  let socket = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, 0));
  (* The sockets of connections inherit it. *)
  Unix.setsockopt_int socket SO_SNDBUF 4096;
  Unix.listen socket 10;
  (Lwt_unix.of_unix_file_descr socket, Unix.getsockname socket)

(* A machine without the list of services doesn't know the port of http. *)
let context = function
  | Unix.ADDR_INET (_, port) ->
      let hosts = Hashtbl.create 1 in
      Hashtbl.add hosts "board" (`TCP (Ipaddr.V4 Ipaddr.V4.localhost, port));
      Client.custom_ctx ~resolver:(Resolver_lwt_unix.static hosts) ()
  | ADDR_UNIX _ -> assert false (* [listen] makes an internet address *)

let respond body = Server.respond ~status:`OK ~body ()
let respond_text text = respond (Cohttp_lwt.Body.of_string text)

type server = {
  address : Unix.sockaddr;
  stop : unit -> unit;
  ended : unit Lwt.t;
}

let start ?(patience = 60.) handle =
  let socket, address = listen () in
  let stop, stopper = Lwt.wait () in
  let mode = `TCP (`Socket socket) in
  let ended = Ending.serve ~stop ~patience ~mode handle in
  { address; stop = Lwt.wakeup stopper; ended }

(* A client that is a socket. *)
let connect { address; _ } =
  let socket = Lwt_unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  let+ () = Lwt_unix.connect socket address in
  ( Lwt_io.of_fd ~mode:Lwt_io.input ~close:Lwt.return socket,
    Lwt_io.of_fd ~mode:Lwt_io.output socket )

let get output = Lwt_io.write output "GET / HTTP/1.1\r\nHost: board\r\n\r\n"

(* Reads to the end of the head, and returns the rest. *)
let rec skip_head input =
  let* line = Lwt_io.read_line input in
  if String.trim line = "" then Lwt.return_unit else skip_head input

(* --- The scenes --------------------------------------------------------------- *)

let rec until_refused server =
  let* refused =
    Lwt.try_bind
      (fun () -> connect server)
      (fun (_, output) -> Lwt.map (fun () -> false) (Lwt_io.close output))
      (function
        | Unix.Unix_error (ECONNREFUSED, _, _) -> Lwt.return_true
        | Unix.Unix_error (ECONNRESET, _, _) -> Lwt.return_false
        | e -> Lwt.fail e)
  in
  if refused then Lwt.return_unit else until_refused server

(* Another domain makes the pieces of the body, the last of them after the server was told to
   end. *)
let a_body_is_finished () =
  let pieces = Concord.Mailbox.create () in
  let handle ~body_of _ _ =
    respond (body_of (fun push -> Concord_lwt.Mailbox.iter_s push pieces))
  in
  let server = start handle in
  Concord.Mailbox.add pieces "begun,";
  let* _, body =
    Client.get ~ctx:(context server.address) (Uri.of_string "http://board/")
  in
  let body = Cohttp_lwt.Body.to_stream body in
  let* first = Lwt_stream.next body in
  server.stop ();
  let* () = until_refused server in
  let rest () =
    List.iter (Concord.Mailbox.add pieces) [ " continued,"; " ended" ];
    Concord.Mailbox.close pieces
  in
  let domain = Domain.spawn rest in
  let* rest = Lwt_stream.to_list body in
  Domain.join domain;
  say ("  the client has: " ^ String.concat "" (first :: rest));
  server.ended

let an_idle_connection_is_closed () =
  let server = start (fun ~body_of:_ _ _ -> respond_text "hello") in
  let* input, output = connect server in
  let* () = get output in
  let* () = skip_head input in
  let* text = Lwt_io.read ~count:5 input in
  server.stop ();
  let* rest = Lwt_io.read input in
  say (Printf.sprintf "  the client has: %s, and %S" text rest);
  let* () = server.ended in
  Lwt_io.close output

let a_request_is_read_to_its_end () =
  let begun, begin_ = Lwt.wait () in
  let handle ~body_of:_ _ body =
    Lwt.wakeup begin_ ();
    let* text = Cohttp_lwt.Body.to_string body in
    respond_text ("received: " ^ text)
  in
  let server = start handle in
  let* input, output = connect server in
  let* () =
    Lwt_io.write output
      "POST / HTTP/1.1\r\nHost: board\r\nContent-Length: 11\r\n\r\nfirst"
  in
  let* () = begun in
  server.stop ();
  let* () = until_refused server in
  let* () = Lwt_io.write output ", then" in
  let* () = skip_head input in
  let* text = Lwt_io.read input in
  say ("  " ^ text);
  let* () = server.ended in
  Lwt_io.close output

let is_complete = String.ends_with ~suffix:"\r\n0\r\n\r\n"

let a_body_that_fails_is_cut () =
  let write push =
    let* () = push "begun" in
    Lwt.fail Exit
  in
  let server = start (fun ~body_of _ _ -> respond (body_of write)) in
  let* input, output = connect server in
  let* () = get output in
  let* text = Lwt_io.read input in
  say (Printf.sprintf "  complete: %b" (is_complete text));
  server.stop ();
  let* () = server.ended in
  Lwt_io.close output

let a_body_that_never_ends_is_cut () =
  let has_ended = ref false in
  let handle ~body_of _ _ =
    let write push =
      Lwt.finalize
        (fun () ->
          let* () = push "begun" in
          fst (Lwt.task ()))
        (fun () ->
          let+ () = Lwt.pause () in
          has_ended := true)
    in
    respond (body_of write)
  in
  let server = start ~patience:0.1 handle in
  let* input, output = connect server in
  let* () = get output in
  let* () = skip_head input in
  let* size = Lwt_io.read_line input in
  server.stop ();
  let ended_first = Lwt.map (fun () -> !has_ended) server.ended in
  let* rest = Lwt_io.read input in
  say
    (Printf.sprintf "  the client has: %s %S, complete: %b" size rest
       (is_complete rest));
  let* () = Lwt_io.close output in
  let+ ended_first = ended_first in
  say (Printf.sprintf "  the writer has ended first: %b" ended_first)

(* The client keeps its socket open, and reads nothing. The program has to be able to exit
   nevertheless. The answer is larger than the buffers of both sockets. *)
let a_client_that_reads_nothing () =
  let handle ~body_of:_ _ _ = respond_text (String.make 0x4000000 'x') in
  let server = start ~patience:0.1 handle in
  let socket = Lwt_unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Lwt_unix.setsockopt_int socket SO_RCVBUF 4096;
  let* () = Lwt_unix.connect socket server.address in
  let* () = get (Lwt_io.of_fd ~mode:Lwt_io.output socket) in
  let* () = Lwt_unix.wait_read socket in
  server.stop ();
  server.ended

let scene name f =
  say name;
  let+ () = f () in
  say "  the server has ended"

let () =
  Concord_lwt.run (fun () ->
      let* () = scene "a body is finished" a_body_is_finished in
      let* () =
        scene "an idle connection is closed" an_idle_connection_is_closed
      in
      let* () =
        scene "a request is read to its end" a_request_is_read_to_its_end
      in
      let* () = scene "a body that fails is cut" a_body_that_fails_is_cut in
      let* () =
        scene "a body that never ends is cut" a_body_that_never_ends_is_cut
      in
      scene "a client that reads nothing" a_client_that_reads_nothing)
