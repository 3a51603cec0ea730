(* The real server against curl, wrk, and clients that do not know how to
   behave. *)

open Process

let check_int = Alcotest.(check int)
let check_string = Alcotest.(check string)
let variants = [ "blocking"; "composed"; "domain-manager" ]
let url t path = Printf.sprintf "http://127.0.0.1:%d%s" t.port path

let get ?(version = "1.1") ?(headers = "") path =
  Printf.sprintf "GET %s HTTP/%s\r\nHost: test\r\n%s\r\n" path version headers

let check_answer client ?(status = 200) ?keep_alive body =
  let answer = Raw.receive client in
  check_int body status answer.status;
  check_string "body" (body ^ "\n") answer.body;
  Option.iter
    (fun keep_alive ->
      check_string "connection"
        (if keep_alive then "keep-alive" else "close")
        (List.assoc "connection" answer.headers))
    keep_alive

let check_alive t =
  let client = Raw.connect t.port in
  Raw.send client (get "/ping");
  check_answer client "pong";
  Raw.close client

let with_client t f =
  let client = Raw.connect t.port in
  f client;
  Raw.close client

(* --- What good clients see --- *)

let curl t options paths =
  let code, output =
    output_of "curl" (("-s" :: options) @ List.map (url t) paths)
  in
  check_int "curl's exit code" 0 code;
  output

let answers variant () =
  with_server [ "--variant=" ^ variant ] @@ fun t ->
  check_string "ping" "pong\n" (curl t [] [ "/ping" ]);
  check_string "fib" "0\n1\n55\n832040\n"
    (curl t [] [ "/fib/0"; "/fib/1"; "/fib/10"; "/fib/30" ]);
  check_string "query" "55\n" (curl t [] [ "/fib/10?as=text" ]);
  check_string "one connection" "pong\n1\n6765\n0\npong\n0\n"
    (curl t [ "-w"; "%{num_connects}\n" ] [ "/ping"; "/fib/20"; "/ping" ])

let keep_alive t =
  with_client t (fun client ->
      (* Pipelined: the answers come in order. *)
      Raw.send client (get "/fib/25" ^ get "/ping" ^ get "/fib/2");
      check_answer client ~keep_alive:true "75025";
      check_answer client "pong";
      check_answer client "1";
      Raw.send client "HEAD /ping HTTP/1.1\r\nHost: test\r\n\r\n";
      let answer = Raw.receive ~head_only:true client in
      check_int "HEAD" 200 answer.status;
      check_string "length" "5" (List.assoc "content-length" answer.headers);
      Raw.send client (get ~headers:"Connection: Close\r\n" "/ping");
      check_answer client ~keep_alive:false "pong";
      Raw.check_closed client);
  with_client t (fun client ->
      Raw.send client
        (get ~version:"1.0" ~headers:"Connection: keep-alive\r\n" "/ping");
      check_answer client ~keep_alive:true "pong";
      Raw.send client (get ~version:"1.0" "/ping");
      check_answer client ~keep_alive:false "pong";
      Raw.check_closed client)

let bodies t =
  with_client t @@ fun client ->
  Raw.send client
    (get ~headers:"Content-Length: 14\r\n" "/fib/3" ^ "GET /nothing\r\n");
  check_answer client "2";
  Raw.send client
    (get ~headers:"Transfer-Encoding: chunked\r\n" "/fib/4"
    ^ "4\r\nabcd\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n");
  check_answer client "3";
  (* Some clients send an empty line after a body. *)
  Raw.send client ("\r\n" ^ get "/fib/5");
  check_answer client "5";
  Raw.send client
    (get ~headers:"Expect: 100-continue\r\nContent-Length: 3\r\n" "/fib/6");
  check_int "continue" 100 (Raw.receive client).status;
  Raw.send client "abc";
  check_answer client "8";
  Raw.send client (get "/ping");
  check_answer client "pong"

(* --- What bad clients see --- *)

(* The request is understood, so the connection lives on. *)
let wrong_requests t =
  with_client t @@ fun client ->
  let limit = "N must be a whole number from 0 to 45" in
  let wrong ?(status = 400) ?(text = limit) request =
    Raw.send client request;
    check_answer client ~status ~keep_alive:true text
  in
  List.iter
    (fun n -> wrong (get ("/fib/" ^ n)))
    [ ""; "x"; "-1"; "1.5"; "0x10"; "1_0"; "46"; "99999999999999999999"; "%35" ];
  List.iter
    (fun path -> wrong (get path) ~status:404 ~text:"try /fib/30 or /ping")
    [ "/"; "/fib"; "/fib/1/2"; "/pings"; "*"; "/../ping" ];
  List.iter
    (fun meth ->
      wrong
        (meth ^ " /ping HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\nhi")
        ~status:405 ~text:"use GET")
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
    (400, with_headers "No colon\r\n");
    (400, with_headers "Space : x\r\n");
    (400, with_headers "X: a\r\n folded\r\n");
    (400, with_headers "X: \000\r\n");
    (400, with_headers "X: a\rb\r\n");
    (400, with_headers "Content-Length: -1\r\n");
    (400, with_headers "Content-Length: 1x\r\n");
    (400, with_headers "Content-Length: 1\r\nContent-Length: 2\r\n");
    (400, with_headers "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n");
    (413, with_headers "Content-Length: 70000\r\n");
    (* The server does not read all of this, but answers all the same. *)
    (413, with_headers "Content-Length: 70000\r\n" ^ long ^ long);
    (413, with_headers "Content-Length: 99999999999999999999\r\n");
    (501, with_headers "Transfer-Encoding: gzip\r\n");
    (400, chunked "\r\n");
    (400, chunked "xyz\r\n");
    (400, chunked "3\r\nabcd\r\n");
    (413, chunked "fffffffffffffff\r\n");
    (400, chunked "ffffffffffffffff\r\n");
    (413, chunked "11170\r\n");
    (400, chunked (long ^ "\r\n"));
    (431, "GET /" ^ long ^ " HTTP/1.1\r\nHost: test\r\n\r\n");
    (431, with_headers ("X: " ^ long ^ "\r\n"));
    (431, long);
  ]

let refused_requests t =
  List.iter
    (fun (status, request) ->
      let client = Raw.connect t.port in
      Raw.send client request;
      let answer = Raw.receive client in
      check_int (String.escaped request) status answer.status;
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
      (* More answers than the connection holds if nobody reads them. *)
      leave farewell (String.concat "" (List.init 1000 (fun _ -> get "/ping"))))
    [ Raw.close; Raw.reset ];
  check_alive t

let with_composed ?(options = []) test () =
  with_server ("--variant=composed" :: options) test

(* --- Limits --- *)

let timeouts t =
  let idle = Raw.connect t.port and slow = Raw.connect t.port in
  Raw.send slow "GET /ping HT";
  check_answer slow ~status:408 ~keep_alive:false
    "the request took too long to come";
  Raw.check_closed slow;
  Raw.check_closed idle;
  check_alive t

let connection_limit t =
  let first = Raw.connect t.port in
  Raw.send first (get "/ping");
  check_answer first "pong";
  let second = Raw.connect t.port in
  Raw.send second (get "/fib/10");
  Raw.check_silent second;
  Raw.send first (get "/fib/20");
  check_answer first "6765";
  Raw.close first;
  check_answer second "55";
  Raw.close second

let descriptor_limit () =
  let t =
    start [] ~wrapper:[ "/bin/sh"; "-c"; "ulimit -n 40; exec \"$0\" \"$@\"" ]
  in
  let clients = List.init 60 (fun _ -> Raw.connect t.port) in
  poll "a failed accept" (fun () -> complaints t <> "");
  (* Time enough to complain a thousand times, for a server that spins. *)
  Unix.sleepf 0.3;
  List.iter Raw.close clients;
  check_alive t;
  terminate t;
  check_int "exit code" 0 (await_exit t);
  let lines = String.split_on_char '\n' (String.trim (complaints t)) in
  Alcotest.(check bool) "few complaints" true (List.length lines < 10);
  List.iter
    (fun line ->
      Alcotest.(check bool)
        line true
        (String.starts_with ~prefix:"fib_server: cannot accept" line))
    lines

let port_in_use t =
  let code, output =
    output_of
      (Filename.concat ".." "fib_server.exe")
      [ "--port"; string_of_int t.port ]
  in
  check_int "exit code" 1 code;
  check_string "message"
    (Printf.sprintf
       "fib_server: cannot listen on 127.0.0.1 port %d: Address already in use\n"
       t.port)
    output

(* --- The end --- *)

let drain variant () =
  let t = start [ "--variant=" ^ variant ] in
  let idle = Raw.connect t.port and busy = Raw.connect t.port in
  Raw.send idle (get "/ping");
  check_answer idle "pong";
  (* Both requests come in one piece, so the second one is in progress when the
     first is answered. *)
  Raw.send busy (get "/ping" ^ get "/fib/38");
  check_answer busy ~keep_alive:true "pong";
  terminate t;
  check_answer busy ~keep_alive:false "39088169";
  Raw.check_closed busy;
  Raw.check_closed idle;
  check_int "exit code" 0 (await_exit t);
  check_string "standard error" "" (complaints t);
  match Raw.connect t.port with
  | client ->
      Raw.close client;
      Alcotest.fail "the port is still open"
  | exception Unix.Unix_error (ECONNREFUSED, _, _) -> ()

let grace () =
  let t = start [ "--variant=composed"; "--grace=0.1" ] in
  let client = Raw.connect t.port in
  Raw.send client (get "/ping" ^ get "/fib/43");
  check_answer client "pong";
  terminate t;
  Raw.check_closed client;
  check_int "exit code" 0 (await_exit t);
  check_string "standard error"
    "fib_server: requests were cut off after 0.1 s\n" (complaints t)

(* --- Many clients --- *)

let wrk path t =
  let code, output = output_of "wrk" [ "-t1"; "-c32"; "-d2s"; url t path ] in
  check_int "wrk's exit code" 0 code;
  let says text =
    let length = String.length text in
    let rec search i =
      i + length <= String.length output
      && (String.sub output i length = text || search (i + 1))
    in
    search 0
  in
  Alcotest.(check bool) "rate" true (says "Requests/sec");
  Alcotest.(check bool) output false (says "Non-2xx" || says "Socket errors")

(* --- A handler that fails --- *)

let failing_handler () =
  let open Fib_service in
  let complaints = ref [] in
  Eio_main.run @@ fun env ->
  let drain = Concord.Promise.create () in
  Eio.Switch.run @@ fun sw ->
  let socket =
    Eio.Net.listen ~sw ~backlog:5 env#net (`Tcp (Eio.Net.Ipaddr.V4.loopback, 0))
  in
  Eio.Fiber.both
    (fun () ->
      Server.run
        {
          clock = env#mono_clock;
          idle_timeout = 10.;
          transfer_timeout = 10.;
          drain;
          log = (fun line -> complaints := line :: !complaints);
        }
        ~max_connections:10 ~grace:10. socket
        (fun _ -> failwith "oh no"))
    (fun () ->
      let client =
        Eio.Net.connect ~sw env#net (Eio.Net.listening_addr socket)
      in
      Eio.Flow.copy_string (get "/ping") client;
      check_string "status" "HTTP/1.1 500 Internal Server Error"
        (Eio.Buf_read.line (Eio.Buf_read.of_flow client ~max_size:1000));
      Concord.Promise.fill drain ());
  Alcotest.(check (list string))
    "log"
    [ "GET \"/ping\": Failure(\"oh no\")" ]
    !complaints

let () =
  let case name test = Alcotest.test_case name `Quick test in
  Alcotest.run "fib_server"
    [
      ("answers", List.map (fun v -> case v (answers v)) variants);
      ( "framing",
        [
          case "keep-alive" (with_composed keep_alive);
          case "bodies" (with_composed bodies);
        ] );
      ( "bad clients",
        [
          case "wrong requests" (with_composed wrong_requests);
          case "refused requests" (with_composed refused_requests);
          case "hang-ups" (with_composed hang_ups);
        ] );
      ( "limits",
        [
          case "timeouts"
            (with_composed timeouts
               ~options:[ "--idle-timeout=0.3"; "--transfer-timeout=0.3" ]);
          case "connections"
            (with_composed connection_limit ~options:[ "--max-connections=1" ]);
          case "descriptors" descriptor_limit;
          case "port in use" (with_composed port_in_use);
        ] );
      ( "drain",
        case "grace" grace :: List.map (fun v -> case v (drain v)) variants );
      ( "load",
        [
          case "ping" (with_composed (wrk "/ping"));
          case "fib" (with_composed (wrk "/fib/24"));
        ] );
      ("failure", [ case "handler" failing_handler ]);
    ]
