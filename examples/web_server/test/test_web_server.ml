(* Tests the same handler on Concord_aio and on Eio. *)

open Http_cases

let program on = Process.program "web_server" [ "--on=" ^ on ]

let in_aio socket f =
  Concord_aio.run (fun () -> Web_service.Aio_host.with_listener socket f)

let () =
  Alcotest.run "web_server"
    (Cases.cases (program "aio") ~hint:"try /hello, /ping or /fib/20"
    @ Http_shapes.cases
        (Process.on_port (program "aio"))
        { page = "/ping"; post = "/ping"; posted = 405 }
    @ [
        ("eio", Cases.of_variant (program "eio"));
        ( "failure",
          [
            Alcotest.test_case "handler" `Quick
              (In_process.failing_handler in_aio);
          ] );
        ( "accept",
          [
            Alcotest.test_case "at once" `Quick
              (In_process.accepted_at_once in_aio ~yield:Concord_fifo.yield);
            Alcotest.test_case "given up" `Quick (In_process.given_up in_aio);
          ] );
      ])
