(* Tests the server on Lwt, mainly what it shares with other libraries. *)

open Http_cases
open Process
open Asking
open In_process

let program = Process.program "lwt_server" []
let hint = "try /ping, /fib/30, /ticket or /table"

(* --- Tickets --- *)

let clients = 50

(* Sends [n] requests, over [clients] connections at a time. *)
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

let tickets t =
  let n = 500 in
  let given = List.map int_of_string (curl_lines t "/ticket" n) in
  Alcotest.(check (list int))
    "each number once"
    (List.init n (fun i -> i + 1))
    (List.sort compare given);
  wrk t ~connections:clients "/ticket"
  |> Option.iter @@ fun answered ->
     let next = int_of_string (List.hd (curl_lines t "/ticket" 1)) in
     (* wrk hangs up on requests that it still waits for. *)
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

(* --- Other clients are served meanwhile --- *)

(* One worker computes for years, so the server has to be killed. *)
let ping_meanwhile () =
  let t = start program [ "--max-n=90" ] in
  let busy = Raw.connect t.port in
  Raw.send busy (get "/ping");
  check_answer busy "pong";
  (* The server reads this request before it accepts the next connection. *)
  Raw.send busy (get "/fib/90");
  check_string "ping" "pong\n" (curl t [] [ "/ping" ]);
  check_string "the other worker" "6765\n" (curl t [] [ "/fib/20" ]);
  Raw.check_silent busy;
  check_string "complaints" "" (complaints t);
  Unix.kill t.pid Sys.sigkill;
  Alcotest.(check bool) "killed" true (await_end t = WSIGNALED Sys.sigkill);
  Raw.close busy

let in_lwt socket f =
  Concord_lwt.run (fun () -> Lwt_service.Lwt_host.with_listener socket f)

(* If Lwt waited for a socket that is closed, libev would abort the program. It happens for
   about one socket of a hundred, because two threads have to run in an unlucky order. *)
let given_up_and_closed () =
  for _ = 1 to 3_000 do
    let socket, _port = listener ~backlog:5 in
    in_lwt socket (fun host ->
        give_up host;
        host.close ();
        Lwt_direct.yield ();
        Lwt_direct.yield ())
  done

let () =
  let case name ?(options = []) test =
    Alcotest.test_case name `Quick (fun () -> with_server program options test)
  in
  Alcotest.run "lwt_server"
    (Cases.cases program ~hint
    @ Http_shapes.cases (Process.on_port program)
        { page = "/ping"; post = "/ping"; posted = 405 }
    @ [
        ( "shared",
          [
            case "tickets" tickets;
            case "table, a handler first" table;
            case "table, Eio first" ~options:[ "--warm-up" ] table;
            Alcotest.test_case "ping meanwhile" `Quick ping_meanwhile;
          ] );
        ( "an accept that is given up",
          [
            Alcotest.test_case "takes no client" `Quick (given_up in_lwt);
            Alcotest.test_case "waits for no closed socket" `Quick
              given_up_and_closed;
          ] );
        ( "failure",
          [ Alcotest.test_case "handler" `Quick (failing_handler in_lwt) ] );
      ])
