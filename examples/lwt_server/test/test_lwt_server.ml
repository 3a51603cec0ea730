(* The real server against curl, wrk, and a client that sees every byte. *)

open Process

let check_int = Alcotest.(check int)
let check_string = Alcotest.(check string)
let url t path = Printf.sprintf "http://127.0.0.1:%d%s" t.port path
let get path = Printf.sprintf "GET %s HTTP/1.1\r\nHost: test\r\n\r\n" path

let check_body client body =
  check_string "body" (body ^ "\n") (Raw.receive client).body

let output_of program arguments =
  let code, output = output_of program arguments in
  check_int (program ^ "'s exit code") 0 code;
  output

let curl t options paths =
  output_of "curl"
    (("-s" :: "--max-time" :: "20" :: options) @ List.map (url t) paths)

let answers t =
  check_string "answers" "pong\n0\n55\n832040\n"
    (curl t [] [ "/ping"; "/fib/0"; "/fib/10"; "/fib/30" ]);
  let limit = "N must be a whole number from 0 to 45\n" in
  List.iter
    (fun (path, text) ->
      check_string path text (curl t [ "-w"; "%{http_code}" ] [ path ]))
    [
      ("/fib/x", limit ^ "400");
      ("/fib/-1", limit ^ "400");
      ("/fib/46", limit ^ "400");
      ("/", "try /ping, /fib/30, /ticket or /table\n404");
      ("/fib/1/2", "try /ping, /fib/30, /ticket or /table\n404");
    ]

(* --- Tickets --- *)

let clients = 50

(* That many requests, by [clients] connections at a time. *)
let curl_lines t path n =
  curl t
    [
      "--parallel";
      "--parallel-immediate";
      "--parallel-max";
      string_of_int clients;
    ]
    [ Printf.sprintf "%s?[1-%d]" path n ]
  |> String.trim |> String.split_on_char '\n'

(* How many requests were answered. *)
let wrk t path =
  let output =
    output_of "wrk" [ "-t1"; Printf.sprintf "-c%d" clients; "-d1s"; url t path ]
  in
  let lines = List.map String.trim (String.split_on_char '\n' output) in
  let starts prefix = List.exists (String.starts_with ~prefix) lines in
  Alcotest.(check bool) output false (starts "Non-2xx" || starts "Socket errors");
  List.find_map
    (fun line ->
      try Scanf.sscanf line "%d requests in" Option.some
      with Scanf.Scan_failure _ | Failure _ | End_of_file -> None)
    lines
  |> Option.get

let tickets t =
  let n = 500 in
  let given = List.map int_of_string (curl_lines t "/ticket" n) in
  Alcotest.(check (list int))
    "each number once"
    (List.init n (fun i -> i + 1))
    (List.sort compare given);
  let answered = wrk t "/ticket" in
  let next = int_of_string (List.hd (curl_lines t "/ticket" 1)) in
  (* wrk hangs up on those that it still waits for. *)
  let unanswered = next - 1 - n - answered in
  Alcotest.(check bool)
    (Printf.sprintf "%d answered, %d not" answered unanswered)
    true
    (answered > 0 && unanswered >= 0 && unanswered <= clients)

(* --- The table --- *)

let table t =
  let n = 100 in
  let lines = curl_lines t "/table" n in
  let count prefix =
    List.length (List.filter (String.starts_with ~prefix) lines)
  in
  check_int "computed once" n (count "computations: 1");
  check_int "numbers" n (count "0 1 1 2 3 5 8 13 21 34 55 89 144 ");
  check_int "lines" (2 * n) (List.length lines)

(* --- Others are served meanwhile, and at the end --- *)

let fib_41 = "165580141"

let ping_meanwhile t =
  let busy = Raw.connect t.port in
  Raw.send busy (get "/ping");
  check_body busy "pong";
  (* The server reads this before it accepts the next connection. *)
  Raw.send busy (get "/fib/41");
  check_string "ping" "pong\n" (curl t [] [ "/ping" ]);
  Raw.check_silent busy;
  check_body busy fib_41;
  Raw.close busy;
  Alcotest.(check bool) "rate" true (wrk t "/fib/22" > 0)

let drain () =
  let t = start [ "--warm-up" ] in
  let idle = Raw.connect t.port in
  Raw.send idle (get "/ping");
  check_body idle "pong";
  (* Both requests come in one piece, so the second one is in progress when the
     first is answered. *)
  let busy = Raw.connect t.port in
  Raw.send busy (get "/ping" ^ get "/fib/41");
  check_body busy "pong";
  terminate t;
  check_body busy fib_41;
  Raw.check_closed busy;
  Raw.check_closed idle;
  check_int "exit code" 0 (await_exit t);
  check_string "standard error" "" (complaints t);
  match Raw.connect t.port with
  | client ->
      Raw.close client;
      Alcotest.fail "the port is still open"
  | exception Unix.Unix_error (ECONNREFUSED, _, _) -> ()

let port_in_use t =
  let code, output =
    Process.output_of
      (Filename.concat ".." "lwt_server.exe")
      [ "--port"; string_of_int t.port ]
  in
  check_int "exit code" 1 code;
  check_string "message"
    (Printf.sprintf
       "lwt_server: cannot listen on port %d: Address already in use\n" t.port)
    output

let () =
  let case name ?(options = []) test =
    Alcotest.test_case name `Quick (fun () -> with_server options test)
  in
  Alcotest.run "lwt_server"
    [
      ("answers", [ case "answers" answers; case "port in use" port_in_use ]);
      ("tickets", [ case "tickets" tickets ]);
      ( "table",
        [
          case "a handler first" table;
          case "Eio first" ~options:[ "--warm-up" ] table;
        ] );
      ( "time",
        [
          case "ping meanwhile" ping_meanwhile;
          Alcotest.test_case "drain" `Quick drain;
        ] );
    ]
