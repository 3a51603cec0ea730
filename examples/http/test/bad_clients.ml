open Process
open Asking

(* The server understands these requests, so it keeps the connection open. *)
let wrong_requests ~hint t =
  with_client t @@ fun client ->
  let limit = "N must be a whole number from 0 to 45" in
  let wrong ?(status = 400) ?(text = limit) request =
    Raw.send client request;
    check_answer client ~status ~keep_alive:true text
  in
  List.iter
    (fun n -> wrong (get ("/fib/" ^ n)))
    [
      "";
      "x";
      "-1";
      "+5";
      "1.5";
      "0x1f";
      "0b1";
      "0u9";
      "1_0";
      "46";
      "99999999999999999999";
      "%35";
    ];
  List.iter
    (fun path -> wrong (get path) ~status:404 ~text:hint)
    [
      "/";
      "/fib";
      "/fib/1/2";
      "/pings";
      "/ping/";
      "*";
      "ping";
      "/../ping";
      "http://test";
    ];
  List.iter
    (fun meth ->
      Raw.send client
        (meth ^ " /ping HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\nhi");
      let answer = Raw.receive client in
      check_int meth 405 answer.status;
      check_string meth "GET, HEAD" (List.assoc "allow" answer.headers))
    [ "POST"; "PUT"; "BREW" ]

let refused_requests =
  let long = String.make 9000 'x' in
  let chunked body =
    get ~headers:"Transfer-Encoding: chunked\r\n" "/ping" ^ body
  in
  let with_headers headers = get ~headers "/ping" in
  [
    (400, "hello\r\n\r\n");
    (400, "GET /ping\r\n\r\n");
    (400, "GET /ping HTTP/2.0\r\nHost: test\r\n\r\n");
    (400, "GET /ping HTTP/1.1\r\n\r\n");
    (400, "GET /ping HTTP/1.1\nHost: test\n\n");
    (400, "GET /a b HTTP/1.1\r\nHost: test\r\n\r\n");
    (400, "\022\003\001\002\000\001\000\001\252\003\003");
    (400, "\r\n\r\n");
    (400, with_headers "Host: another\r\n");
    (400, get ~version:"1.0" ~headers:"Host: another\r\n" "/ping");
    (400, "GET /ping HTTP/1.1\r\nHost: a b\r\n\r\n");
    (400, "GET /ping HTTP/1.0\r\nHost: a b\r\n\r\n");
    (400, "GET /ping HTTP/1.1\r\nHost: user@test\r\n\r\n");
    (400, "GET /ping HTTP/1.1\r\nHost: test/\r\n\r\n");
    (400, "GET /ping HTTP/1.1\r\nHost: test:http\r\n\r\n");
    (400, "GET /ping HTTP/1.1\r\nHost: ::1\r\n\r\n");
    (400, "GET /ping HTTP/1.1\r\nHost: [::1\r\n\r\n");
    (400, "GET /ping HTTP/1.1\r\nHost: [::1]80\r\n\r\n");
    (400, "G(T /ping HTTP/1.1\r\nHost: test\r\n\r\n");
    (400, "G\195\137T /ping HTTP/1.1\r\nHost: test\r\n\r\n");
    (400, "GET: /ping HTTP/1.1\r\nHost: test\r\n\r\n");
    (400, with_headers "No colon\r\n");
    (400, with_headers "Space : x\r\n");
    (400, with_headers "X: a\r\n folded\r\n");
    (400, with_headers "X: \000\r\n");
    (400, with_headers "X: a\rb\r\n");
    (400, with_headers "Content-Length: -1\r\n");
    (400, with_headers "Content-Length: 1x\r\n");
    (400, with_headers "Content-Length: 0x1\r\n");
    (400, with_headers "Content-Length: 1\r\nContent-Length: 2\r\n");
    (400, with_headers "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n");
    (400, with_headers "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n");
    (400, get ~version:"1.0" ~headers:"Transfer-Encoding: chunked\r\n" "/ping");
    (413, with_headers "Content-Length: 70000\r\n");
    (* The server doesn't read all of this, but it still answers. *)
    (413, with_headers "Content-Length: 70000\r\n" ^ long ^ long);
    (413, with_headers "Content-Length: 99999999999999999999\r\n");
    (501, with_headers "Transfer-Encoding: gzip\r\n");
    (501, with_headers "Transfer-Encoding: gzip, chunked\r\n");
    (400, chunked "\r\n");
    (400, chunked "xyz\r\n");
    (400, chunked "3\r\nabcd\r\n");
    (400, chunked "3\nabc\n0\n\n");
    (413, chunked "fffffffffffffff\r\n");
    (400, chunked "ffffffffffffffff\r\n");
    (413, chunked "11170\r\n");
    (400, chunked (long ^ "\r\n"));
    (400, chunked ("0\r\nX: " ^ long ^ "\r\n"));
    (400, chunked "0\r\nNo colon\r\n\r\n");
    (400, chunked "0\r\nSpace : x\r\n\r\n");
    (400, chunked "0\r\nX: a\r\n folded: b\r\n\r\n");
    (400, chunked "0\r\n: x\r\n\r\n");
    (417, with_headers "Expect: a-miracle\r\n");
    (417, with_headers "Expect: 100-continue, a-miracle\r\n");
    (417, get ~version:"1.0" ~headers:"Expect: a-miracle\r\n" "/ping");
    ( 413,
      chunked
        (String.concat ""
           (List.init 20 (fun _ -> "1;" ^ String.make 4000 'x' ^ "\r\na\r\n")))
    );
    (431, "GET /" ^ long ^ " HTTP/1.1\r\nHost: test\r\n\r\n");
    (431, with_headers ("X: " ^ long ^ "\r\n"));
    ( 431,
      with_headers (String.concat "" (List.init 1100 (fun _ -> "X: xxx\r\n")))
    );
    (431, long);
  ]

let refused_requests t =
  List.iter
    (fun (status, request) ->
      let client = Raw.connect t.port in
      Raw.send client request;
      let answer = Raw.receive client in
      let name = String.(escaped (sub request 0 (min 100 (length request)))) in
      check_int name status answer.status;
      check_string "connection" "close" (List.assoc "connection" answer.headers);
      Raw.check_closed client)
    refused_requests;
  check_alive t

let hang_ups t =
  let request = get "/fib/30" in
  let leave farewell text =
    let client = Raw.connect t.port in
    Raw.send client text;
    farewell client
  in
  List.iter
    (fun farewell ->
      for length = 0 to String.length request do
        leave farewell (String.sub request 0 length)
      done;
      leave farewell (get ~headers:"Content-Length: 100\r\n" "/fib/1" ^ "half");
      leave farewell
        (get ~headers:"Transfer-Encoding: chunked\r\n" "/fib/1" ^ "5\r\nha");
      (* If the client reads none of these answers, they fill the buffers of the connection. *)
      leave farewell (String.concat "" (List.init 1000 (fun _ -> get "/ping"))))
    [ Raw.close; Raw.reset ];
  check_alive t

(* --- Clients that keep the server waiting --- *)

let idle_client t =
  with_client t @@ fun client ->
  Raw.send client (get "/ping");
  check_answer client "pong";
  Raw.check_closed client;
  Raw.check_closed (Raw.connect t.port)

(* Each byte comes in time, but the whole request doesn't. *)
let slow_clients t =
  List.iter
    (fun (start, rest) ->
      let client = Raw.connect t.port in
      Raw.send client start;
      if rest <> "" then Raw.trickle client rest;
      check_answer client ~status:408 ~keep_alive:false
        "the request took too long to arrive";
      Raw.check_closed client)
    [
      ("G", "");
      ("GET /ping HTTP/1.1\r\nX: ", "x");
      ("GET /ping HTTP/1.1\r\n", "X: x\r\n");
      (get ~headers:"Content-Length: 60000\r\n" "/ping", "");
      (get ~headers:"Content-Length: 60000\r\n" "/ping", "x");
      (get ~headers:"Transfer-Encoding: chunked\r\n" "/ping", "");
      (get ~headers:"Transfer-Encoding: chunked\r\n" "/ping", "1\r\nx\r\n");
    ];
  check_alive t

(* The limits of the earlier requests have passed, and the idle limit is far away. *)
let slow_at_last t =
  let client = Raw.connect t.port in
  Raw.send client (get "/ping");
  check_answer client "pong";
  Raw.check_silent client;
  Raw.check_silent client;
  Raw.send client "G";
  check_answer client ~status:408 ~keep_alive:false
    "the request took too long to arrive";
  Raw.check_closed client

let deaf_client t =
  let client = Raw.connect t.port in
  Raw.flood client (get "/fib/45/what?");
  Raw.close client;
  check_alive t
