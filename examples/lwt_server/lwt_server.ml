(* An HTTP server on Lwt, in one process with a pool of domains and with Eio.

   ./dev exec lwt_server --port 8080 *)

open Lwt.Syntax
module Server = Cohttp_lwt_unix.Server
module Task = Domainslib.Task

(* --- What the three share --- *)

type shared = {
  pool : Task.pool;  (** Computes. *)
  tickets : int Concord.Mvar.t;  (** An Eio domain puts, Lwt takes. *)
  table : string Concord.Lazy.t;  (** Either computes it, once. *)
}

let computations = Atomic.make 0

(* Whoever is first only waits for the pool: in Lwt others are served meanwhile.
*)
let table pool =
  Concord.Lazy.from_fun @@ fun () ->
  Atomic.incr computations;
  let numbers =
    Concord_domainslib.submit pool (fun () ->
        List.init 36 (fun n -> string_of_int (Fib.parallel pool n)))
  in
  String.concat " " (Concord.Promise.await numbers)

let with_shared ~domains f =
  let pool = Task.setup_pool ~num_domains:domains () in
  (* This domain tears the pool down; the one of Eio may be the first to submit.
  *)
  Concord_domainslib.attach pool;
  Fun.protect ~finally:(fun () -> Task.teardown_pool pool) @@ fun () ->
  f { pool; tickets = Concord.Mvar.create_empty (); table = table pool }

(* --- The Eio domain --- *)

let rec number_tickets tickets n =
  Concord.Mvar.put tickets n;
  number_tickets tickets (n + 1)

let with_eio_domain { tickets; table; _ } ~warm_up f =
  let closed = Concord.Promise.create () in
  let domain =
    Domain.spawn @@ fun () ->
    Eio_main.run @@ fun _ ->
    Eio.Fiber.first
      (fun () -> Concord.Promise.await closed)
      (fun () ->
        if warm_up then ignore (Concord.Lazy.force table : string);
        number_tickets tickets 1)
  in
  let close () =
    Concord.Promise.fill closed ();
    Domain.join domain
  in
  Fun.protect ~finally:close f

(* --- The handlers, in Lwt --- *)

let answer ?(status = `OK) text =
  Server.respond_string ~status ~body:(text ^ "\n") ()

let fib pool n =
  let result = Concord_domainslib.submit pool (fun () -> Fib.parallel pool n) in
  let* number = Concord_lwt.to_lwt result in
  answer (string_of_int number)

let ticket tickets =
  let* n = Concord_lwt.Mvar.take tickets in
  answer (string_of_int n)

let show_table table =
  let* numbers = Concord_lwt.Lazy.force table in
  answer
    (Printf.sprintf "computations: %d\n%s" (Atomic.get computations) numbers)

let handle { pool; tickets; table } ~max_n request =
  let path = Uri.path (Cohttp_lwt_unix.Request.uri request) in
  match String.split_on_char '/' path with
  | [ ""; "ping" ] -> answer "pong"
  | [ ""; "ticket" ] -> ticket tickets
  | [ ""; "table" ] -> show_table table
  | [ ""; "fib"; n ] -> (
      match int_of_string_opt n with
      | Some n when n >= 0 && n <= max_n -> fib pool n
      | Some _ | None ->
          answer ~status:`Bad_request
            (Printf.sprintf "N must be a whole number from 0 to %d" max_n))
  | _ -> answer ~status:`Not_found "try /ping, /fib/30, /ticket or /table"

(* --- The server --- *)

(* The first signal asks for an orderly end, the second one gets any. *)
let stop_on signals =
  let stop = Concord.Promise.create () in
  let handle signal =
    Sys.set_signal signal Sys.Signal_default;
    ignore (Concord.Promise.try_fill stop () : bool)
  in
  List.iter (fun s -> Sys.set_signal s (Sys.Signal_handle handle)) signals;
  stop

let listen port =
  let socket = Lwt_unix.socket PF_INET SOCK_STREAM 0 in
  Lwt_unix.setsockopt socket SO_REUSEADDR true;
  let* () = Lwt_unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, port)) in
  Lwt_unix.listen socket 511;
  Lwt.return socket

let announce socket =
  match Lwt_unix.getsockname socket with
  | ADDR_INET (_, port) ->
      Printf.printf "lwt_server: listening on http://127.0.0.1:%d\n%!" port
  | ADDR_UNIX _ -> assert false (* [listen] made it *)

(* Each request in progress holds [progress] as a reader. So the writer has it
   when all are answered; those that come later are not. *)
let serve shared ~max_n ~stop socket =
  let progress = Concord.Rwlock.create () in
  let callback _ request _ =
    Concord_lwt.Rwlock.read progress (fun () -> handle shared ~max_n request)
  in
  let* () =
    Server.create
      ~mode:(`TCP (`Socket socket))
      ~stop:(Concord_lwt.to_lwt stop) (Server.make ~callback ())
  in
  Concord_lwt.Rwlock.write_lock progress

let run port domains max_n warm_up =
  let stop = stop_on [ Sys.sigterm; Sys.sigint ] in
  with_shared ~domains @@ fun shared ->
  with_eio_domain shared ~warm_up @@ fun () ->
  Concord_lwt.run @@ fun () ->
  Lwt.try_bind
    (fun () -> listen port)
    (fun socket ->
      announce socket;
      let* () = serve shared ~max_n ~stop socket in
      Lwt.return 0)
    (function
      | Unix.Unix_error (error, _, _) ->
          Printf.eprintf "lwt_server: cannot listen on port %d: %s\n%!" port
            (Unix.error_message error);
          Lwt.return 1
      | e -> Lwt.fail e)

(* --- The command line --- *)

open Cmdliner

let between low high =
  let parse text =
    match int_of_string_opt text with
    | Some n when n >= low && n <= high -> Ok n
    | Some _ | None ->
        Error (`Msg (Printf.sprintf "must be a number from %d to %d" low high))
  in
  Arg.conv (parse, Format.pp_print_int)

let option name kind ~default ~docv doc =
  Arg.(value & opt kind default & info [ name ] ~docv ~doc)

let term =
  Term.(
    const run
    $ option "port" (between 0 65535) ~default:8080 ~docv:"PORT"
        "The port to listen on; 0 takes a free one. Either way it is printed."
    $ option "domains" (between 1 100)
        ~default:(Domain.recommended_domain_count ())
        ~docv:"N" "How many domains compute."
    $ option "max-n" (between 0 90) ~default:45 ~docv:"N"
        "The largest Fibonacci number that a client may ask for."
    $ Arg.(
        value & flag
        & info [ "warm-up" ]
            ~doc:"Let the Eio domain compute the table at the start."))

let command =
  let man =
    [
      `S Manpage.s_description;
      `P
        "Answers $(b,GET /fib/N) with the Nth Fibonacci number, computed by a \
         Domainslib pool, and $(b,GET /ping) at once, also meanwhile. $(b,GET \
         /ticket) gives each client a number of its own, from an MVar that an \
         Eio domain fills. $(b,GET /table) shows a lazy value that the Eio \
         domain and all clients share, and how often it was computed.";
      `P
        "On SIGTERM or SIGINT the server accepts no more connections, answers \
         the requests in progress and exits with 0.";
    ]
  in
  Cmd.v
    (Cmd.info "lwt_server" ~man
       ~doc:"an HTTP server on Lwt that shares its process with other domains")
    term

let () = exit (Cmd.eval' command)
