(* A web server: the same handler on Concord_aio and on Eio. What has nothing to do with
   either is in examples/http.

   ./dev exec web_server --on aio --port 8080 *)

open Http_service

let greeting = Message.answer `OK "Hello, world"
let pong = Message.answer `OK "pong"
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

let handle ~max_n =
  Pages.handle ~hint:"try /hello, /ping or /fib/20" @@ function
  | [ "hello" ] -> Some (fun () -> greeting)
  | [ "ping" ] -> Some (fun () -> pong)
  | [ "fib"; n ] ->
      let answer n = Message.answer `OK (string_of_int (fib n)) in
      Some (Pages.with_n ~max_n n answer)
  | _ -> None

(* Words. What waits when a minor collection comes is copied then, and that is most of a
   server's values: so many small ones rather than few large, each of which makes all
   requests late that come meanwhile. *)
let minor_heap_size = 32 * 1024

let run options on =
  Gc.set { (Gc.get ()) with minor_heap_size };
  Command.run options ~name:"web_server" @@ fun socket serve ->
  let serve host = serve host (handle ~max_n:(Command.max_n options)) in
  match on with
  | `Aio ->
      Concord_aio.run (fun () ->
          Web_service.Aio_host.with_listener socket serve)
  | `Eio ->
      Eio_main.run (fun _ -> Fib_service.Eio_host.with_listener socket serve)

(* --- The command line --- *)

open Cmdliner

let on =
  let doc = "Run on $(docv): $(b,aio) is Concord_aio, $(b,eio) is Eio." in
  Arg.(
    value
    & opt (enum [ ("aio", `Aio); ("eio", `Eio) ]) `Aio
    & info [ "on" ] ~docv:"LIBRARY" ~doc)

let command =
  let man =
    [
      `S Manpage.s_description;
      `P
        "Answers $(b,GET /hello) with a greeting, $(b,GET /ping) with a word, \
         and $(b,GET /fib/N) with the Nth Fibonacci number, in one domain: \
         others wait while that is computed.";
      Command.signals;
    ]
  in
  Cmd.v
    (Cmd.info "web_server" ~man
       ~doc:"a web server on Concord_aio, or with the same handler on Eio")
    Term.(const run $ Command.options $ on)

let () = exit (Cmd.eval' command)
