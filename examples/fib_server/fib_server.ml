(* An HTTP server that computes Fibonacci numbers in one of three ways.

   ./dev exec fib_server --variant composed --port 8080 --domains 2 *)

open Fib_service

let complain text = Printf.eprintf "fib_server: %s\n%!" text

(* The first signal asks for an orderly end, the second one gets any. A promise
   can be filled from a signal handler, whatever waits for it. *)
let drain_on signals =
  let drain = Concord.Promise.create () in
  let handle signal =
    Sys.set_signal signal Sys.Signal_default;
    ignore (Concord.Promise.try_fill drain () : bool)
  in
  List.iter (fun s -> Sys.set_signal s (Sys.Signal_handle handle)) signals;
  drain

let listen ~sw net address port =
  Eio.Net.listen ~sw ~reuse_addr:true ~backlog:511 net
    (`Tcp (Eio_unix.Net.Ipaddr.of_unix address, port))

let announce address =
  match Eio_unix.Net.sockaddr_to_unix address with
  | ADDR_INET (address, port) ->
      let host = Unix.string_of_inet_addr address in
      Printf.printf "fib_server: listening on http://%s:%d\n%!"
        (if String.contains host ':' then "[" ^ host ^ "]" else host)
        port
  | ADDR_UNIX path -> Printf.printf "fib_server: listening on %s\n%!" path

(* A minor collection stops all domains, and is over when the last one of them
   has had its turn on a processor: on a busy machine that takes milliseconds,
   so there should be few. The requests leave next to nothing to copy. *)
let collect_rarely () =
  Gc.set { (Gc.get ()) with minor_heap_size = 4 * 1024 * 1024 }

let serve variant address port domains max_n max_connections idle_timeout
    transfer_timeout grace =
  collect_rarely ();
  Eio_main.run @@ fun env ->
  let config =
    {
      Connection.clock = env#mono_clock;
      idle_timeout;
      transfer_timeout;
      drain = drain_on [ Sys.sigterm; Sys.sigint ];
      log = complain;
    }
  in
  Eio.Switch.run @@ fun sw ->
  match listen ~sw env#net address port with
  | exception Eio.Io (Eio.Exn.X (Eio_unix.Unix_error (error, _, _)), _) ->
      complain
        (Printf.sprintf "cannot listen on %s port %d: %s"
           (Unix.string_of_inet_addr address)
           port (Unix.error_message error));
      1
  | socket ->
      Variants.with_fib variant ~domains env#domain_mgr (fun fib ->
          announce (Eio.Net.listening_addr socket);
          Server.run config ~max_connections ~grace socket
            (Routes.handle ~max_n ~fib));
      0

(* --- The command line --- *)

open Cmdliner

let between low high conv =
  let print = Arg.conv_printer conv in
  let parse text =
    match Arg.conv_parser conv text with
    | Ok n when n < low || n > high ->
        Error
          (`Msg (Format.asprintf "must be from %a to %a" print low print high))
    | result -> result
  in
  Arg.conv (parse, print)

(* A day is as good as for ever. *)
let duration = between 0.001 86400. Arg.float

let address =
  let parse text =
    try Ok (Unix.inet_addr_of_string text)
    with Failure _ -> Error (`Msg (Printf.sprintf "%S is no IP address" text))
  in
  let print ppf address =
    Format.pp_print_string ppf (Unix.string_of_inet_addr address)
  in
  Arg.conv (parse, print)

let option name kind ~default ~docv doc =
  Arg.(value & opt kind default & info [ name ] ~docv ~doc)

let term =
  Term.(
    const serve
    $ option "variant" (Arg.enum Variants.all) ~default:Variants.Composed
        ~docv:"VARIANT"
        (Printf.sprintf "How to compute: %s." (Arg.doc_alts_enum Variants.all))
    $ option "address" address ~default:Unix.inet_addr_loopback ~docv:"ADDRESS"
        "The address to listen on."
    $ option "port" (between 0 65535 Arg.int) ~default:8080 ~docv:"PORT"
        "The port to listen on; 0 takes a free one. Either way it is printed."
    $ option "domains" (between 1 100 Arg.int)
        ~default:(Domain.recommended_domain_count ())
        ~docv:"N" "How many domains compute."
    $ option "max-n" (between 0 90 Arg.int) ~default:45 ~docv:"N"
        "The largest Fibonacci number that a client may ask for."
    $ option "max-connections"
        (between 1 1_000_000 Arg.int)
        ~default:900 ~docv:"N"
        "How many clients are served at a time; more wait."
    $ option "idle-timeout" duration ~default:60. ~docv:"SECONDS"
        "When to close a connection without a request."
    $ option "transfer-timeout" duration ~default:10. ~docv:"SECONDS"
        "How long a client may take to send a request, or to take an answer."
    $ option "grace" duration ~default:30. ~docv:"SECONDS"
        "How long requests in progress may go on after SIGTERM.")

let command =
  let man =
    [
      `S Manpage.s_description;
      `P
        "Answers $(b,GET /fib/N) with the Nth Fibonacci number, computed the \
         slow way, and $(b,GET /ping) at once, or so it should.";
      `I
        ( "$(b,blocking)",
          "computes in a Domainslib pool with Task.run, which blocks the \
           server's only Eio domain: nobody else is served meanwhile." );
      `I
        ( "$(b,composed)",
          "submits the work to the pool and waits for a promise of Concord: \
           only the fiber of this request waits." );
      `I
        ( "$(b,domain-manager)",
          "uses Eio alone: other domains take requests from a stream and \
           compute each of them in one piece." );
      `P
        "On SIGTERM or SIGINT the server accepts no more connections, closes \
         the idle ones, answers the requests in progress and exits with 0.";
    ]
  in
  Cmd.v
    (Cmd.info "fib_server" ~man
       ~doc:"an HTTP server on Eio that computes on other domains")
    term

let () = exit (Cmd.eval' command)
