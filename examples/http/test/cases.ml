(* Tests the real server against curl, wrk, and misbehaving clients. *)

open Process
open Good_clients
open Bad_clients
open Limits
open Ends

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
        case "hosts" hosts;
        case "options" options;
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
        case "slow at last" slow_at_last ~options:[ "--transfer-timeout=0.3" ];
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
