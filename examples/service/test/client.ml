open Lwt.Syntax

type answer = { status : int; body : string }

let or_none f =
  Lwt.catch
    (fun () -> Lwt.map Option.some (f ()))
    (function Lwt.Canceled -> Lwt.reraise Lwt.Canceled | _ -> Lwt.return_none)

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

(* --- Requests --- *)

let end_of_line line =
  match String.length line with
  | n when n > 0 && line.[n - 1] = '\r' -> String.sub line 0 (n - 1)
  | _ -> line

let rec skip_headers input ~length =
  let* line = Lwt_io.read_line input in
  match
    String.split_on_char ':' (String.lowercase_ascii (end_of_line line))
  with
  | [ "" ] -> Lwt.return length
  | [ "content-length"; text ] ->
      skip_headers input ~length:(int_of_string (String.trim text))
  | _ -> skip_headers input ~length

let receive input =
  let* line = Lwt_io.read_line input in
  let status = Scanf.sscanf line "HTTP/1.1 %d" Fun.id in
  let* length = skip_headers input ~length:0 in
  let body = Bytes.create length in
  let+ () = Lwt_io.read_into_exactly input body 0 length in
  { status; body = String.trim (Bytes.to_string body) }

let call ?(body = "") meth port path =
  let text =
    Printf.sprintf
      "%s %s HTTP/1.1\r\n\
       Host: test\r\n\
       Connection: close\r\n\
       Content-Length: %d\r\n\
       \r\n\
       %s"
      meth path (String.length body) body
  in
  or_none (fun () -> connected port text receive)

let post port n = call ~body:(string_of_int n) "POST" port "/jobs"
let get port path = call "GET" port path
let delete port id = call "DELETE" port (Printf.sprintf "/jobs/%d" id)
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
