(* The server on Eio, in its three variants. *)

open Http_cases

let program variant = Process.program "fib_server" [ "--variant=" ^ variant ]

let in_eio socket f =
  Eio_main.run (fun _ -> Fib_service.Eio_host.with_listener socket f)

let () =
  Alcotest.run "fib_server"
    (Cases.cases (program "composed") ~hint:"try /fib/30 or /ping"
    @ [
        ("blocking", Cases.of_variant (program "blocking"));
        ("domain-manager", Cases.of_variant (program "domain-manager"));
        ( "accept",
          [ Alcotest.test_case "given up" `Quick (Cases.given_up in_eio) ] );
        ( "failure",
          [ Alcotest.test_case "handler" `Quick (Cases.failing_handler in_eio) ]
        );
      ])
