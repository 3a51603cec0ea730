open Lwt.Syntax
open Cohttp_lwt_unix

type answer = { status : int; body : string }

let uri port path =
  Uri.of_string (Printf.sprintf "http://127.0.0.1:%d%s" port path)

let or_none f =
  Lwt.catch
    (fun () -> Lwt.map Option.some (f ()))
    (function Lwt.Canceled -> Lwt.reraise Lwt.Canceled | _ -> Lwt.return_none)

let call ?body meth port path =
  or_none (fun () ->
      let* response, body = Client.call ?body meth (uri port path) in
      let+ body = Cohttp_lwt.Body.to_string body in
      {
        status = Cohttp.Code.code_of_status (Response.status response);
        body = String.trim body;
      })

let post port n = call ~body:(`String (string_of_int n)) `POST port "/jobs"
let get port path = call `GET port path
let delete port id = call `DELETE port (Printf.sprintf "/jobs/%d" id)

let send socket text =
  let+ sent = Lwt_unix.write_string socket text 0 (String.length text) in
  assert (sent = String.length text)

let connected ?receive_buffer port text f =
  let socket = Lwt_unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Option.iter (Lwt_unix.setsockopt_int socket SO_RCVBUF) receive_buffer;
  Lwt.finalize
    (fun () ->
      let* () =
        Lwt_unix.connect socket (ADDR_INET (Unix.inet_addr_loopback, port))
      in
      let* () = send socket text in
      f (Lwt_io.of_fd ~mode:Input ~close:Lwt.return socket))
    (fun () -> Lwt_unix.close socket)

let request path = Printf.sprintf "GET %s HTTP/1.1\r\nHost: test\r\n\r\n" path

let events port f =
  let rec read input =
    let* line = Lwt_io.read_line input in
    if f line then read input else Lwt.return_unit
  in
  Lwt.map ignore (or_none (fun () -> connected port (request "/events") read))

let hang_up port text =
  Lwt.map ignore
    (or_none (fun () -> connected port text (fun _ -> Lwt.return_unit)))
