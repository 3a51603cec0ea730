(* A web server whose handler runs on Concord_aio or on Eio. The code that doesn't depend on
   these is in examples/http.

   ./dev exec web_server --on aio --port 8080 *)

open Http_message
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

(* In words. A minor collection copies the values of all requests in progress, which are most
   of a server's values. A small heap means many short collections instead of a few long ones,
   and a long one would delay all requests that come meanwhile. *)
let minor_heap_size = 32 * 1024

let run options on =
  Gc.set { (Gc.get ()) with minor_heap_size };
  Command.run options ~name:"web_server" @@ fun socket serve ->
  let serve host = serve host (handle ~max_n:(Command.max_n options)) in
  match on with
  | `Aio ->
      Concord_aio.run (fun () ->
          Web_service.Aio_host.with_listener socket serve)
  | `Eio -> Eio_main.run (fun _ -> Eio_host.with_listener socket serve)

(* --- The command line --- *)

open Cmdliner

let on =
  let doc = "The host: $(b,aio) is Concord_aio, $(b,eio) is Eio." in
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
         and $(b,GET /fib/N) with the Nth Fibonacci number. It runs in one \
         domain, so other clients wait while a number is computed.";
      Command.signals;
    ]
  in
  Cmd.v
    (Cmd.info "web_server" ~man
       ~doc:"a web server on Concord_aio or, with the same handler, on Eio")
    Term.(const run $ Command.options $ on)

let () = exit (Cmd.eval' command)
