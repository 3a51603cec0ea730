(* Blocking sockets with a time limit. After the limit, reading fails. *)

(* [Signal_ignore] would be inherited by the servers, so this is a handler. *)
let () = Sys.set_signal Sys.sigpipe (Signal_handle ignore)

type t = { socket : Unix.file_descr; input : in_channel }

let limit = 15. (* seconds *)

(* If a call of [connect] is interrupted, the system continues to connect. This waits until it
   has. *)
let wait_connected socket =
  match Unix.select [] [ socket ] [] limit with
  | _, [], _ -> Alcotest.fail "not connected in time"
  | _ ->
      let error = Unix.getsockopt_error socket in
      Option.iter (fun e -> raise (Unix.Unix_error (e, "connect", ""))) error

(* If a time limit is set, the system doesn't restart an interrupted call. Here the
   interruption mostly comes from io_uring, when it has work for a thread that waits for
   something else. *)
let connect ?receive_buffer port =
  let socket = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Option.iter (Unix.setsockopt_int socket SO_RCVBUF) receive_buffer;
  Unix.setsockopt_float socket SO_RCVTIMEO limit;
  Unix.setsockopt_float socket SO_SNDTIMEO limit;
  (try Unix.connect socket (ADDR_INET (Unix.inet_addr_loopback, port))
   with Unix.Unix_error (EINTR, _, _) -> wait_connected socket);
  { socket; input = Unix.in_channel_of_descr socket }

let send t text =
  let sent = Unix.write_substring t.socket text 0 (String.length text) in
  Alcotest.(check int) "bytes sent" (String.length text) sent

let close t = In_channel.close t.input

let reset t =
  Unix.setsockopt_optint t.socket SO_LINGER (Some 0);
  close t

type answer = { status : int; headers : (string * string) list; body : string }

let read_line t =
  match In_channel.input_line t.input with
  | None -> Alcotest.fail "closed in the middle of an answer"
  | Some line ->
      Alcotest.(check bool) "line end" true (String.ends_with ~suffix:"\r" line);
      String.sub line 0 (String.length line - 1)

let rec read_headers t =
  match read_line t with
  | "" -> []
  | line ->
      let i = String.index line ':' in
      let value = String.sub line (i + 1) (String.length line - i - 1) in
      let name = String.lowercase_ascii (String.sub line 0 i) in
      (name, String.trim value) :: read_headers t

let receive ?(head_only = false) t =
  let status = Scanf.sscanf (read_line t) "HTTP/1.1 %d" Fun.id in
  let headers = read_headers t in
  let length =
    match List.assoc_opt "content-length" headers with
    | Some length when not head_only -> int_of_string length
    | Some _ | None -> 0
  in
  match In_channel.really_input_string t.input length with
  | Some body -> { status; headers; body }
  | None -> Alcotest.fail "closed in the middle of a body"

let check_silent t =
  let readable, _, _ = Unix.select [ t.socket ] [] [] 0.2 in
  Alcotest.(check int) "answers" 0 (List.length readable)

let check_closed t =
  Alcotest.(check (option char))
    "end of the connection" None
    (In_channel.input_char t.input);
  close t

let drain t =
  (try ignore (In_channel.input_all t.input : string) with Sys_error _ -> ());
  close t

(* --- Bad manners --- *)

let until_deadline what step =
  let deadline = Unix.gettimeofday () +. 15. in
  let rec loop i =
    if Unix.gettimeofday () > deadline then
      Alcotest.failf "the server never refused: %s" what
    else if not (step i) then loop (i + 1)
  in
  loop 0

let trickle t text =
  until_deadline "a slow client" @@ fun i ->
  match Unix.select [ t.socket ] [] [] 0.02 with
  | [], _, _ ->
      send t (String.make 1 text.[i mod String.length text]);
      false
  | _ -> true

let fill t text =
  let text = String.concat "" (List.init 100 (fun _ -> text)) in
  let length = String.length text in
  let rec from start =
    match Unix.select [] [ t.socket ] [] 0.3 with
    | _, [], _ -> ()
    | _ ->
        let sent = Unix.write_substring t.socket text start (length - start) in
        from ((start + sent) mod length)
  in
  Unix.set_nonblock t.socket;
  from 0;
  Unix.clear_nonblock t.socket

let flood t text =
  let text = String.concat "" (List.init 100 (fun _ -> text)) in
  let length = String.length text in
  let start = ref 0 in
  Unix.set_nonblock t.socket;
  until_deadline "a client that doesn't read" @@ fun _ ->
  match Unix.write_substring t.socket text !start (length - !start) with
  | sent ->
      start := (!start + sent) mod length;
      false
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) ->
      ignore (Unix.select [] [ t.socket ] [] 0.1);
      false
  | exception Unix.Unix_error ((EPIPE | ECONNRESET), _, _) -> true
