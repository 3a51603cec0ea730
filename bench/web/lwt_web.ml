(* The Lwt servers of the group [web], lwt_web.exe cohttp and lwt_web.exe http. *)

open Lwt.Syntax
open Http_message

let text = "Hello, world\n"

(* --- The parser of examples/http under plain Lwt --- *)

(* This server reads requests and makes answers with the same code as the others, so that only
   the schedulers differ. Otherwise it is minimal. It has no time limits, no bounds and no
   orderly shutdown, all of which the example has. *)

let rec write_all socket text start =
  let length = String.length text - start in
  if length = 0 then Lwt.return_unit
  else
    let* written = Lwt_unix.write_string socket text start length in
    write_all socket text (start + written)

(* Parses the bytes that have arrived, without waiting. *)
let fed_input () =
  let fed = ref "" in
  let read () =
    let text = !fed in
    fed := "";
    text
  in
  (fed, Input.create read)

let is_complete text = String.ends_with ~suffix:"\r\n\r\n" text

let serve socket =
  let chunk = Bytes.create 4096 and fed, input = fed_input () in
  let rec read text =
    if is_complete text then Lwt.return text
    else
      let* length = Lwt_unix.read socket chunk 0 (Bytes.length chunk) in
      if length = 0 then Lwt.fail End_of_file
      else read (text ^ Bytes.sub_string chunk 0 length)
  in
  let rec next () =
    let* text = if Input.length input = 0 then read "" else Lwt.return "" in
    fed := text;
    match Message.receive input ~go_on:ignore with
    | Refused _ -> Lwt.return_unit
    | Request (request, _) ->
        let keep_alive = Message.keeps_alive request in
        let answer = Message.answer `OK "Hello, world" in
        let* () = write_all socket (Message.to_string ~keep_alive answer) 0 in
        if keep_alive then next () else Lwt.return_unit
  in
  Lwt.catch
    (fun () -> Lwt.finalize next (fun () -> Lwt_unix.close socket))
    (fun _ -> Lwt.return_unit)

let rec with_http listener =
  let* socket, _ = Lwt_unix.accept ~cloexec:true listener in
  Lwt_unix.setsockopt socket TCP_NODELAY true;
  Lwt.async (fun () -> serve socket);
  with_http listener

let () =
  let serve =
    match Sys.argv with
    | [| _; "cohttp" |] -> With_cohttp.serve ~text
    | [| _; "http" |] -> with_http
    | _ ->
        prerr_endline "usage: lwt_web.exe cohttp|http";
        exit 2
  in
  (* The same size as in examples/web_server. *)
  Gc.set { (Gc.get ()) with minor_heap_size = 32 * 1024 };
  Sys.set_signal Sys.sigpipe Signal_ignore;
  let socket = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, 0));
  Unix.listen socket 511;
  (match Unix.getsockname socket with
  | ADDR_INET (_, port) ->
      Printf.printf "lwt_web: listening on http://127.0.0.1:%d\n%!" port
  | ADDR_UNIX _ -> assert false);
  Lwt_main.run (serve (Lwt_unix.of_unix_file_descr socket))
