(* An HTTP server on Lwt, in one process with workers on other domains and with Eio. The code that
   doesn't depend on these is in examples/http.

   ./dev exec lwt_server --port 8080 *)

open Lwt.Syntax
open Http_message
open Http_service
open Lwt_service
module Workers = Concord.Workers

(* --- What Lwt, Eio and the workers share --- *)

type shared = {
  workers : Workers.t;  (** They compute the numbers. *)
  tickets : int Concord.Mvar.t;
      (** An Eio domain puts the numbers, and Lwt takes them. *)
  table : string Concord.Lazy.t;  (** Lwt or Eio computes it, once. *)
}

let computations = Atomic.make 0

(* The first task that needs the table waits for a worker to compute it. In Lwt, other clients
   are served meanwhile. *)
let table workers =
  Concord.Lazy.from_fun @@ fun () ->
  Atomic.incr computations;
  let number n = string_of_int (Fib.sequential n) in
  Workers.run workers (fun () -> String.concat " " (List.init 36 number))

let with_shared ~domains f =
  Workers.with_workers ~domains @@ fun workers ->
  f { workers; tickets = Concord.Mvar.create_empty (); table = table workers }

(* --- The Eio domain --- *)

let rec number_tickets tickets n =
  Concord.Mvar.put tickets n;
  number_tickets tickets (n + 1)

(* Waits until the Eio domain has started, because clients may take all descriptors later. *)
let with_eio_domain { tickets; table; _ } ~warm_up f =
  let opened = Concord.Promise.create () in
  let closed = Concord.Promise.create () in
  let serve _ =
    Concord.Promise.fill opened ();
    Eio.Fiber.first
      (fun () -> Concord.Promise.await closed)
      (fun () ->
        if warm_up then ignore (Concord.Lazy.force table : string);
        number_tickets tickets 1)
  in
  let domain =
    Domain.spawn @@ fun () ->
    try Eio_main.run serve
    with e when not (Concord.Promise.is_resolved opened) ->
      Concord.Promise.fail opened e
  in
  let close () =
    Concord.Promise.fill closed ();
    Domain.join domain
  in
  Fun.protect ~finally:close @@ fun () ->
  Concord.Promise.await opened;
  f ()

(* --- The handlers, in Lwt --- *)

let answer text = Lwt.return (Message.answer `OK text)

let fib workers n =
  let result = Workers.submit workers (fun () -> Fib.sequential n) in
  let* number = Concord_lwt.to_lwt result in
  answer (string_of_int number)

let ticket tickets =
  let* n = Concord_lwt.Mvar.take tickets in
  answer (string_of_int n)

let show_table table =
  let* numbers = Concord_lwt.Lazy.force table in
  answer
    (Printf.sprintf "computations: %d\n%s" (Atomic.get computations) numbers)

(* A connection is a task of [Lwt_direct], which waits for its handler. *)
let handle { workers; tickets; table } ~max_n =
  let await = Lwt_direct.await in
  Pages.handle ~hint:"try /ping, /fib/30, /ticket or /table" @@ function
  | [ "ping" ] -> Some (fun () -> await (answer "pong"))
  | [ "ticket" ] -> Some (fun () -> await (ticket tickets))
  | [ "table" ] -> Some (fun () -> await (show_table table))
  | [ "fib"; n ] ->
      Some (Pages.with_n ~max_n n (fun n -> await (fib workers n)))
  | _ -> None

let run options warm_up =
  Command.run options ~name:"lwt_server" @@ fun socket serve ->
  with_shared ~domains:(Command.domains options) @@ fun shared ->
  with_eio_domain shared ~warm_up @@ fun () ->
  Concord_lwt.run @@ fun () ->
  Lwt_host.with_listener socket @@ fun host ->
  serve host (handle shared ~max_n:(Command.max_n options))

(* --- The command line --- *)

open Cmdliner

let warm_up =
  let doc = "Let the Eio domain compute the table at the start." in
  Arg.(value & flag & info [ "warm-up" ] ~doc)

let command =
  let man =
    [
      `S Manpage.s_description;
      `P
        "Answers $(b,GET /fib/N) with the Nth Fibonacci number, computed in \
         another domain. Meanwhile it answers $(b,GET /ping) at once. $(b,GET \
         /ticket) gives each client a different number, from an MVar that an \
         Eio domain fills. $(b,GET /table) shows a lazy value that the Eio \
         domain and all clients share, and how often it was computed.";
      Command.signals;
    ]
  in
  Cmd.v
    (Cmd.info "lwt_server" ~man
       ~doc:"an HTTP server on Lwt that shares its process with other domains")
    Term.(const run $ Command.options $ warm_up)

let () = exit (Cmd.eval' command)
