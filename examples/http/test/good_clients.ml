open Process
open Asking

let answers t =
  check_string "ping" "pong\n" (curl t [] [ "/ping" ]);
  check_string "fib" "0\n1\n55\n832040\n"
    (curl t [] [ "/fib/0"; "/fib/1"; "/fib/10"; "/fib/30" ]);
  check_string "query" "55\n" (curl t [] [ "/fib/10?as=text" ]);
  check_string "whole URL" "55\n" (curl t [ "-x"; url t "" ] [ "/fib/10" ]);
  check_string "one connection" "pong\n1\n6765\n0\npong\n0\n"
    (curl t [ "-w"; "%{num_connects}\n" ] [ "/ping"; "/fib/20"; "/ping" ])

let keep_alive t =
  with_client t (fun client ->
      (* The requests are pipelined, and the answers come in the same order. *)
      Raw.send client (get "/fib/25" ^ get "/ping" ^ get "/fib/2");
      check_answer client ~keep_alive:true "75025";
      check_answer client "pong";
      check_answer client "1";
      Raw.send client "HEAD /ping HTTP/1.1\r\nHost: test\r\n\r\n";
      let answer = Raw.receive ~head_only:true client in
      check_int "HEAD" 200 answer.status;
      check_string "length" "5" (List.assoc "content-length" answer.headers);
      Raw.send client (get ~headers:"Connection: x, Close\r\n" "/ping");
      check_answer client ~keep_alive:false "pong";
      Raw.check_closed client);
  with_client t (fun client ->
      Raw.send client
        (get ~version:"1.0" ~headers:"Connection: Keep-Alive\r\n" "/ping");
      check_answer client ~keep_alive:true "pong";
      Raw.send client (get ~version:"1.0" "/ping");
      check_answer client ~keep_alive:false "pong";
      Raw.check_closed client)

let bodies t =
  with_client t @@ fun client ->
  (* The server must not take the body of a GET for the next request. *)
  let smuggled = get "/nothing" in
  Raw.send client
    (get "/fib/3"
       ~headers:
         (Printf.sprintf "Content-Length: %d\r\n" (String.length smuggled))
    ^ smuggled);
  check_answer client "2";
  Raw.send client
    (get ~headers:"Transfer-Encoding: Chunked\r\n" "/fib/4"
    ^ "4\r\nabcd\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n");
  check_answer client "3";
  (* Some clients send an empty line after a body. *)
  Raw.send client ("\r\n" ^ get "/fib/5");
  check_answer client "5";
  Raw.send client (get "/ping");
  check_answer client "pong"

let hosts t =
  with_client t @@ fun client ->
  let ask version headers =
    Raw.send client
      (Printf.sprintf "GET /ping HTTP/%s\r\n%sConnection: keep-alive\r\n\r\n"
         version headers);
    check_answer client ~keep_alive:true "pong"
  in
  List.iter
    (fun host -> ask "1.1" (Printf.sprintf "Host: %s\r\n" host))
    [ ""; "test:"; "test:80"; "127.0.0.1:8080"; "[::1]"; "[::1]:80"; "a%20b_c" ];
  ask "1.0" ""

let options t =
  with_client t @@ fun client ->
  Raw.send client "OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n";
  let answer = Raw.receive client in
  check_int "status" 200 answer.status;
  check_string "methods" "GET, HEAD" (List.assoc "allow" answer.headers);
  check_string "length" "0" (List.assoc "content-length" answer.headers);
  Raw.send client (get "/ping");
  check_answer client "pong"

let expectations t =
  with_client t (fun client ->
      Raw.send client (get ~headers:expect "/fib/6");
      check_int "continue" 100 (Raw.receive client).status;
      Raw.send client "abc";
      check_answer client "8");
  (* A list in a header may have empty elements. *)
  with_client t (fun client ->
      let headers = "Expect: , 100-Continue\r\nContent-Length: 3\r\n" in
      Raw.send client (get ~headers "/fib/6");
      check_int "continue" 100 (Raw.receive client).status;
      Raw.send client "abc";
      check_answer client "8");
  (* An HTTP/1.0 client doesn't know 100 Continue. *)
  with_client t (fun client ->
      Raw.send client (get ~version:"1.0" ~headers:expect "/fib/6" ^ "abc");
      check_answer client "8");
  (* If the server refuses a body, the client doesn't need to send it. *)
  with_client t (fun client ->
      let headers = "Expect: 100-continue\r\nContent-Length: 70000\r\n" in
      Raw.send client (get ~headers "/fib/6");
      check_answer client ~status:413 "the body exceeds 65536 bytes")

(* The client sends more than it should, but it must still get its answer. *)
let last_answer t =
  let client = Raw.connect t.port in
  Raw.send client
    (get ~headers:"Connection: close\r\n" "/ping" ^ String.make 100_000 'x');
  check_answer client "pong";
  Raw.check_closed client

let load path t =
  Option.iter
    (fun answered -> Alcotest.(check bool) "answers" true (answered > 0))
    (wrk t path);
  check_alive t
