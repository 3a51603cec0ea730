(* The server on Concord_aio. *)

open Http_cases

let program = Process.program "aio_server" []

let in_aio socket f =
  Concord_aio.run (fun () -> Aio_service.Aio_host.with_listener socket f)

let () =
  Alcotest.run "aio_server"
    (Cases.cases program ~hint:"try /fib/30 or /ping"
    @ [
        ( "failure",
          [ Alcotest.test_case "handler" `Quick (Cases.failing_handler in_aio) ]
        );
      ])
