(* An HTTP server that computes Fibonacci numbers, in one of several ways.

   ./dev exec fib_server --variant composed --port 8080 --domains 2 *)

open Fib_service
open Http_service

(* A large minor heap makes minor collections rare. Each collection stops all domains until the
   last one has been scheduled, and on a busy machine that takes milliseconds. A large heap
   costs little here, because the requests leave hardly any values to copy. *)
let collect_rarely () =
  Gc.set { (Gc.get ()) with minor_heap_size = 4 * 1024 * 1024 }

let serve variant options =
  collect_rarely ();
  Command.run options ~name:"fib_server" @@ fun socket serve ->
  Eio_main.run @@ fun env ->
  Variants.with_fib variant ~domains:(Command.domains options) env#domain_mgr
  @@ fun fib ->
  Eio_host.with_listener socket @@ fun host ->
  serve host (Routes.handle ~max_n:(Command.max_n options) ~fib)

(* --- The command line --- *)

open Cmdliner

let variant =
  Command.option "variant" (Arg.enum Variants.all) ~default:Variants.Composed
    ~docv:"VARIANT"
    (Printf.sprintf "How to compute: %s." (Arg.doc_alts_enum Variants.all))

let command =
  let man =
    [
      `S Manpage.s_description;
      `P
        "Answers $(b,GET /fib/N) with the Nth Fibonacci number, which it \
         computes by the slow recursive definition. It should answer $(b,GET \
         /ping) at once, but not every variant does.";
      `I
        ( "$(b,blocking)",
          "computes in a Domainslib pool with Task.run. This blocks the \
           server's only Eio domain, so no other client is served meanwhile." );
      `I
        ( "$(b,composed)",
          "submits the work to the pool, and waits for a promise of Concord. \
           Only the fiber of this request waits." );
      `I
        ( "$(b,unsplit)",
          "does the same, but computes each number in one piece, in one domain \
           of the pool." );
      `I
        ( "$(b,long-lived)",
          "computes in one piece, too, but each domain of the pool has one \
           task, which takes all its requests from a Concord mailbox." );
      `I
        ( "$(b,domain-manager)",
          "uses Eio alone. Other domains take requests from a stream, and \
           compute each of them in one piece." );
      `I
        ( "$(b,executor-pool)",
          "uses Eio alone, too. Its executor pool computes each request in one \
           piece." );
      `I
        ( "$(b,eio-promise)",
          "starts a task of the pool with Task.async, which resolves a promise \
           of Eio." );
      `I
        ( "$(b,as-printed)",
          "does the same with a promise of Concord, as section 3.5 of the \
           paper prints it. The pool allows this from one domain only, which \
           is enough for this server." );
      `I ("$(b,mvar)", "does the same with an Mvar, as the paper measured it.");
      Command.signals;
    ]
  in
  Cmd.v
    (Cmd.info "fib_server" ~man
       ~doc:"an HTTP server on Eio that computes on other domains")
    Term.(const serve $ variant $ Command.options)

let () = exit (Cmd.eval' command)
