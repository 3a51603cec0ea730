(* Tests the server on Eio, in all its variants. *)

open Http_cases
module Variants = Fib_service.Variants

let program variant = Process.program "fib_server" [ "--variant=" ^ variant ]
let in_eio socket f = Eio_main.run (fun _ -> Eio_host.with_listener socket f)

(* "composed" runs all cases, so it doesn't need these. *)
let of_variant = function
  | _, Variants.Composed -> None
  | name, _ -> Some (name, Cases.of_variant (program name))

(* --- Which variants compute for fibers of any domain --- *)

let admits_other_domains : Variants.t -> bool = function
  | Composed | Unsplit | Long_lived | Domain_manager | Executor_pool -> true
  | Blocking | Eio_promise | As_printed | Mvar -> false

let reach (name, variant) =
  Alcotest.test_case name `Quick @@ fun () ->
  Eio_main.run @@ fun env ->
  Variants.with_fib variant ~domains:1 env#domain_mgr @@ fun fib ->
  Alcotest.(check int) "here" 75025 (fib 25);
  match Eio.Domain_manager.run env#domain_mgr (fun () -> fib 25) with
  | n ->
      Alcotest.(check int) "in another domain" 75025 n;
      Alcotest.(check bool) "admitted" true (admits_other_domains variant)
  | exception Assert_failure _ ->
      Alcotest.(check bool) "refused" false (admits_other_domains variant)

let () =
  Alcotest.run "fib_server"
    (Cases.cases (program "composed") ~hint:"try /fib/30 or /ping"
    @ Http_shapes.cases
        (Process.on_port (program "composed"))
        { page = "/ping"; post = "/ping"; posted = 405 }
    @ [
        ( "accept",
          [ Alcotest.test_case "given up" `Quick (In_process.given_up in_eio) ]
        );
        ( "failure",
          [
            Alcotest.test_case "handler" `Quick
              (In_process.failing_handler in_eio);
          ] );
      ]
    @ List.filter_map of_variant Variants.all
    @ [ ("other domains", List.map reach Variants.all) ])
