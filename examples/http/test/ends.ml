open Process
open Asking

(* The server now waits for the body. *)
let send_half client path =
  Raw.send client (get ~headers:expect path);
  check_int "continue" 100 (Raw.receive client).status

(* If a connection is made just when the socket is closed, it is reset. *)
let is_refused t =
  match Raw.connect t.port with
  | client ->
      Raw.close client;
      false
  | exception Unix.Unix_error (ECONNRESET, _, _) -> false
  | exception Unix.Unix_error (ECONNREFUSED, _, _) -> true

let drain program () =
  let t = start program [] in
  let idle = Raw.connect t.port and busy = Raw.connect t.port in
  Raw.send idle (get "/ping");
  check_answer idle "pong";
  send_half busy "/fib/30";
  terminate t;
  poll "no more connections" (fun () -> is_refused t);
  Raw.check_closed idle;
  Raw.send busy ("abc" ^ get "/ping");
  check_answer busy ~keep_alive:false "832040";
  Raw.check_closed busy;
  check_int "exit code" 0 (await_exit t);
  check_string "standard error" "" (complaints t)

let grace program () =
  let t = start program [ "--grace=0.1" ] in
  let client = Raw.connect t.port in
  send_half client "/ping";
  terminate t;
  Raw.check_closed client;
  check_int "exit code" 0 (await_exit t);
  check_string "standard error"
    (name program ^ ": requests were cut off after 0.1 s\n")
    (complaints t)

let second_signal program () =
  let t = start program [] in
  let client = Raw.connect t.port in
  send_half client "/ping";
  terminate t;
  poll "no more connections" (fun () -> is_refused t);
  terminate t;
  Alcotest.(check bool) "killed" true (await_end t = WSIGNALED Sys.sigterm)
