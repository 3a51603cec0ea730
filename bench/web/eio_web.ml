(* The plain Eio server of the group [web]. It has the parser of examples/http, and doesn't use
   Concord. Like lwt_web.ml, it is a minimal server, without an orderly shutdown. It has time
   limits only if its argument is "limits": 60 s to wait for a request, and 10 s to read or write
   one, as the example has. *)

open Eio.Std
module Read = Eio.Buf_read

let text = "Hello, world\n"

let rec head reader =
  match Read.line reader with "" -> [ ""; "" ] | line -> line :: head reader

let parse reader =
  let head = String.concat "\r\n" (head reader) in
  match Http.Private.Parser.parse_request head with
  | Ok (request, _) -> request
  | Error _ -> failwith "bad request"

let answer ~keep_alive =
  let headers =
    Http.Header.of_list
      [
        ("Content-Type", "text/plain");
        ("Content-Length", string_of_int (String.length text));
        ("Connection", if keep_alive then "keep-alive" else "close");
      ]
  in
  let response = Http.Response.make ~status:`OK ~headers () in
  Printf.sprintf "%s %s\r\n%s%s"
    (Http.Version.to_string response.version)
    (Http.Status.to_string response.status)
    (Http.Header.to_string response.headers)
    text

(* Requests with a body are not answered, because this server doesn't read bodies. *)
type within = { within : 'a. float -> (unit -> 'a) -> 'a }

let serve ~within:{ within } socket _address =
  Eio.Net.(setsockopt socket Sockopt.TCP_NODELAY true);
  let reader = Read.of_flow socket ~initial_size:4096 ~max_size:8192 in
  let rec next () =
    if not (within 60. (fun () -> Read.at_end_of_input reader)) then
      let request = within 10. (fun () -> parse reader) in
      let keep_alive = Http.Request.is_keep_alive request in
      if Http.Request.has_body request = `No then (
        within 10. (fun () -> Eio.Flow.copy_string (answer ~keep_alive) socket);
        if keep_alive then next ())
  in
  next ()

let () =
  (* The same size as in examples/web_server. *)
  Gc.set { (Gc.get ()) with minor_heap_size = 32 * 1024 };
  Eio_main.run @@ fun env ->
  Switch.run @@ fun sw ->
  let address = `Tcp (Eio.Net.Ipaddr.V4.loopback, 0) in
  let socket = Eio.Net.listen ~sw ~backlog:511 env#net address in
  (match Eio.Net.listening_addr socket with
  | `Tcp (_, port) ->
      Printf.printf "eio_web: listening on http://127.0.0.1:%d\n%!" port
  | `Unix _ -> assert false (* [address] is an internet address *));
  let limited seconds f =
    Eio.Time.Timeout.run_exn (Eio.Time.Timeout.seconds env#mono_clock seconds) f
  and unlimited _ f = f () in
  let serve =
    if Array.mem "limits" Sys.argv then serve ~within:{ within = limited }
    else serve ~within:{ within = unlimited }
  in
  Eio.Net.run_server socket serve ~on_error:ignore
