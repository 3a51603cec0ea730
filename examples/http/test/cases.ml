(* The real server against curl, wrk, and clients that do not know how to
   behave. *)

open Process

let check_int = Alcotest.(check int)
let check_string = Alcotest.(check string)
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

let with_client t f =
  let client = Raw.connect t.port in
  f client;
  Raw.close client

let check_alive t =
  with_client t @@ fun client ->
  Raw.send client (get "/ping");
  check_answer client "pong"

let curl t options paths =
  let code, output =
    output_of "curl"
      (("-s" :: "--max-time" :: "20" :: options) @ List.map (url t) paths)
  in
  check_int "curl's exit code" 0 code;
  output

(* --- What good clients see --- *)

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
      (* Pipelined: the answers come in order. *)
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
  (* The body of a GET is not the next request. *)
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

let expect = "Expect: 100-continue\r\nContent-Length: 3\r\n"

let expectations t =
  with_client t (fun client ->
      Raw.send client (get ~headers:expect "/fib/6");
      check_int "continue" 100 (Raw.receive client).status;
      Raw.send client "abc";
      check_answer client "8");
  (* This client does not know that answer. *)
  with_client t (fun client ->
      Raw.send client (get ~version:"1.0" ~headers:expect "/fib/6" ^ "abc");
      check_answer client "8");
  (* A body that is refused need not be sent. *)
  with_client t (fun client ->
      let headers = "Expect: 100-continue\r\nContent-Length: 70000\r\n" in
      Raw.send client (get ~headers "/fib/6");
      check_answer client ~status:413 "the body exceeds 65536 bytes")

(* The client sends more than it should have, and must get its answer all the
   same. *)
let last_answer t =
  let client = Raw.connect t.port in
  Raw.send client
    (get ~headers:"Connection: close\r\n" "/ping" ^ String.make 100_000 'x');
  check_answer client "pong";
  Raw.check_closed client

(* --- What bad clients see --- *)

(* The request is understood, so the connection lives on. *)
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
    (* The server does not read all of this, but answers all the same. *)
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
      (* More answers than the connection holds if nobody reads them. *)
      leave farewell (String.concat "" (List.init 1000 (fun _ -> get "/ping"))))
    [ Raw.close; Raw.reset ];
  check_alive t

(* --- Limits --- *)

let idle_client t =
  with_client t @@ fun client ->
  Raw.send client (get "/ping");
  check_answer client "pong";
  Raw.check_closed client;
  Raw.check_closed (Raw.connect t.port)

(* Each byte comes in time; but the request does not. *)
let slow_clients t =
  List.iter
    (fun (start, rest) ->
      let client = Raw.connect t.port in
      Raw.send client start;
      if rest <> "" then Raw.trickle client rest;
      check_answer client ~status:408 ~keep_alive:false
        "the request took too long to come";
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

let deaf_client t =
  let client = Raw.connect t.port in
  Raw.flood client (get "/fib/45/what?");
  Raw.close client;
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

let descriptor_limit program () =
  let t = start program [] ~limit:64 in
  let clients =
    List.init 200 (fun _ ->
        let client = Raw.connect t.port in
        Raw.send client (get "/ping");
        client)
  in
  poll "a failed accept" (fun () -> complaints t <> "");
  let computed = cpu_seconds t in
  Raw.check_silent (List.nth clients 199);
  (* Time enough to compute a second, for a server that tries again at once. *)
  Unix.sleepf 0.8;
  (match (computed, cpu_seconds t) with
  | Some before, Some after ->
      let text = Printf.sprintf "%g s of computing" (after -. before) in
      Alcotest.(check bool) text true (after -. before < 0.3)
  | _ -> ());
  (* Those that were accepted leave, and so the others are served. *)
  List.iter
    (fun client ->
      check_answer client "pong";
      Raw.close client)
    clients;
  terminate t;
  check_int "exit code" 0 (await_exit t);
  check_string "standard error"
    (name program ^ ": cannot accept: Too many open files\n")
    (complaints t)

let port_in_use t =
  let code, output = run_beside t [ "--port"; string_of_int t.port ] in
  check_int "exit code" 1 code;
  check_string "message"
    (Printf.sprintf
       "%s: cannot listen on 127.0.0.1 port %d: Address already in use\n"
       (name t.program) t.port)
    output

(* --- The end --- *)

(* The server waits for the body. *)
let send_half client path =
  Raw.send client (get ~headers:expect path);
  check_int "continue" 100 (Raw.receive client).status

(* A connection that is made just as the socket is closed is reset. *)
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

(* --- Many clients --- *)

let wrk t ?(connections = 32) path =
  let code, output =
    output_of "wrk"
      [
        "-t1";
        Printf.sprintf "-c%d" connections;
        "-d1s";
        "--timeout";
        "20s";
        url t path;
      ]
  in
  check_int "wrk's exit code" 0 code;
  let lines = List.map String.trim (String.split_on_char '\n' output) in
  let starts prefix = List.exists (String.starts_with ~prefix) lines in
  Alcotest.(check bool) output false (starts "Non-2xx" || starts "Socket errors");
  List.find_map
    (fun line ->
      try Scanf.sscanf line "%d requests in" Option.some
      with Scanf.Scan_failure _ | Failure _ | End_of_file -> None)
    lines
  |> Option.get

let load path t =
  Alcotest.(check bool) "answers" true (wrk t path > 0);
  check_alive t

(* --- A handler that fails --- *)

let listener ~backlog =
  let socket = Unix.(socket ~cloexec:true PF_INET SOCK_STREAM 0) in
  Unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, 0));
  Unix.listen socket backlog;
  match Unix.getsockname socket with
  | ADDR_INET (_, port) -> (socket, port)
  | ADDR_UNIX _ -> assert false (* see [bind] *)

let failing_handler with_listener () =
  let open Http_service in
  let socket, port = listener ~backlog:5 in
  let drain = Concord.Promise.create () and complaints = ref [] in
  let ask () =
    let client = Raw.connect port in
    Raw.send client (get "/ping" ^ get "/ping");
    let first = Raw.receive client in
    let second = Raw.receive client in
    Raw.close client;
    (first.status, second.status)
  in
  let statuses = Concord.Promise.create () in
  let client () =
    (match ask () with
    | given -> Concord.Promise.fill statuses given
    | exception e -> Concord.Promise.fail statuses e);
    Concord.Promise.fill drain ()
  in
  let thread = Thread.create client () in
  with_listener socket (fun host ->
      Server.run
        {
          idle_timeout = 10.;
          transfer_timeout = 10.;
          drain;
          log = (fun line -> complaints := line :: !complaints);
        }
        ~max_connections:10 ~grace:10. host
        (fun _ -> failwith "oh no"));
  Thread.join thread;
  Alcotest.(check (pair int int))
    "statuses" (500, 500)
    (Concord.Promise.await statuses);
  let complaint = "GET \"/ping\": Failure(\"oh no\")" in
  Alcotest.(check (list string)) "log" [ complaint; complaint ] !complaints

(* --- Many who wait to be accepted --- *)

(* The other tasks had few turns meanwhile: else the last one waits for as many rounds
   of all connections as there are clients before it. *)
let accepted_at_once with_listener ~yield () =
  let open Http_service in
  let clients = 100 in
  let socket, port = listener ~backlog:clients in
  let connections = List.init clients (fun _ -> Raw.connect port) in
  let drain = Concord.Promise.create () in
  let accepted = ref 0 and turns = ref 0 in
  let rec count_turns () =
    if !accepted < clients then begin
      if !accepted > 0 then incr turns;
      yield ();
      count_turns ()
    end
    else Concord.Promise.fill drain ()
  in
  with_listener socket (fun (host : Host.t) ->
      let accept ~unless =
        let connection = host.accept ~unless in
        if Option.is_some connection then incr accepted;
        connection
      in
      host.fork count_turns;
      Server.run
        { idle_timeout = 10.; transfer_timeout = 10.; drain; log = ignore }
        ~max_connections:clients ~grace:10. { host with accept } (fun _ ->
          Message.answer `OK "pong"));
  List.iter Raw.close connections;
  Alcotest.(check bool) "few turns" true (!turns < 10)

(* --- An accept that is given up --- *)

let give_up (host : Http_service.Host.t) =
  let accepted = host.accept ~unless:(Concord.Event.always ()) in
  Alcotest.(check bool) "gave up" true (Option.is_none accepted)

(* Were the accept that is given up to go on, it would take the client of one of the two
   that follow: each client comes while an accept waits. *)
let give_up_then_accept port (host : Http_service.Host.t) =
  give_up host;
  for i = 1 to 2 do
    let client = ref None in
    let too_late =
      Concord.Event.guard @@ fun () ->
      client := Some (Raw.connect port);
      Concord.Event.timeout 10.
    in
    (match host.accept ~unless:too_late with
    | Some connection -> connection.close ()
    | None -> Alcotest.failf "client %d was taken by another accept" i);
    Option.iter Raw.close !client
  done;
  host.close ()

(* Many, as it may depend on the order of two threads. *)
let given_up with_listener () =
  for _ = 1 to 50 do
    let socket, port = listener ~backlog:5 in
    with_listener socket (give_up_then_accept port)
  done

(* --- All of them --- *)

let case_alone program name test = Alcotest.test_case name `Quick (test program)

let of_variant program =
  let case name test = case_alone program name test in
  [
    case "answers" (fun program () -> with_server program [] answers);
    case "drain" drain;
    case "descriptors" descriptor_limit;
  ]

let cases program ~hint =
  let case name ?(options = []) test =
    Alcotest.test_case name `Quick (fun () -> with_server program options test)
  in
  let case_alone name test = case_alone program name test in
  [
    ( "good clients",
      [
        case "answers" answers;
        case "keep-alive" keep_alive;
        case "bodies" bodies;
        case "expectations" expectations;
        case "last answer" last_answer;
        case "many pings" (load "/ping");
        case "many numbers" (load "/fib/24");
      ] );
    ( "bad clients",
      [
        case "wrong requests" (wrong_requests ~hint);
        case "refused requests" refused_requests;
        case "hang-ups" hang_ups;
        case "idle" idle_client ~options:[ "--idle-timeout=1" ];
        case "slow" slow_clients ~options:[ "--transfer-timeout=0.3" ];
        case "deaf" deaf_client ~options:[ "--transfer-timeout=0.3" ];
      ] );
    ( "limits",
      [
        case "connections" connection_limit ~options:[ "--max-connections=1" ];
        case_alone "descriptors" descriptor_limit;
        case "port in use" port_in_use;
      ] );
    ( "the end",
      [
        case_alone "drain" drain;
        case_alone "grace" grace;
        case_alone "second signal" second_signal;
      ] );
  ]
