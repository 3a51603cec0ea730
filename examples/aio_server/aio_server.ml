(* An HTTP server on Concord's own scheduler and asynchronous I/O, which computes in
   a pool of domains.

   ./dev exec aio_server --port 8080 --domains 2 *)

open Aio_service
open Http_service
module Task = Domainslib.Task

let with_fib ~domains f =
  let pool = Task.setup_pool ~num_domains:domains () in
  Concord_domainslib.attach pool;
  Fun.protect ~finally:(fun () -> Task.teardown_pool pool) @@ fun () ->
  f (fun n ->
      Concord_domainslib.submit pool (fun () -> Fib.parallel pool n)
      |> Concord.Promise.await)

let serve options =
  Command.run options ~name:"aio_server" @@ fun socket serve ->
  with_fib ~domains:(Command.domains options) @@ fun fib ->
  Concord_aio.run @@ fun () ->
  Aio_host.with_listener socket @@ fun host ->
  serve host (Routes.handle ~max_n:(Command.max_n options) ~fib)

open Cmdliner

let command =
  let man =
    [
      `S Manpage.s_description;
      `P
        "Answers $(b,GET /fib/N) with the Nth Fibonacci number, computed by a \
         Domainslib pool, and $(b,GET /ping) at once, also meanwhile.";
      Command.signals;
    ]
  in
  Cmd.v
    (Cmd.info "aio_server" ~man
       ~doc:"an HTTP server on Concord's asynchronous I/O")
    Term.(const serve $ Command.options)

let () = exit (Cmd.eval' command)
