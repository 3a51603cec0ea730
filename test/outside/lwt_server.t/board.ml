(* An HTTP server of cohttp-lwt-unix, in one process with a domain of Eio and a pool of
   domains. The same server runs under Lwt_main.run, which every existing server uses, and
   under Concord_lwt.run. *)

open Lwt.Syntax
module Task = Domainslib.Task
module Server = Cohttp_lwt_unix.Server
module Client = Cohttp_lwt_unix.Client

let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

type shared = {
  pool : Task.pool;
  tickets : int Concord.Stream.t;  (** An Eio domain adds, Lwt takes. *)
  notes : string Concord.Mailbox.t;  (** Lwt puts, the Eio domain takes. *)
  table : string Concord.Lazy.t;  (** The first task that needs it computes it. *)
}

let share pool =
  let numbers () = List.init 10 (fun n -> string_of_int (fib n)) in
  {
    pool;
    tickets = Concord.Stream.create 3;
    notes = Concord.Mailbox.create ();
    table =
      Concord.Lazy.from_fun (fun () ->
          String.concat " "
            (Concord.Promise.await (Concord_domainslib.submit pool numbers)));
  }

(* --- The Eio domain ------------------------------------------------------------ *)

let rec add_tickets tickets n =
  match Concord.Stream.add tickets n with
  | () -> add_tickets tickets (n + 1)
  | exception Concord.Stream.Closed -> ()

let rec keep_notes notes kept =
  match Concord.Mailbox.take notes with
  | note -> keep_notes notes (note :: kept)
  | exception Concord.Mailbox.Closed -> List.rev kept

let eio_domain { tickets; notes; _ } =
  Domain.spawn @@ fun () ->
  Eio_main.run @@ fun _ ->
  snd
    (Eio.Fiber.pair
       (fun () -> add_tickets tickets 1)
       (fun () -> keep_notes notes []))

(* --- The handlers -------------------------------------------------------------- *)

let answer text = Server.respond_string ~status:`OK ~body:text ()

let handle { pool; tickets; notes; table } request =
  match String.split_on_char '/' (Uri.path (Cohttp.Request.uri request)) with
  | [ ""; "fib"; n ] ->
      let n = int_of_string n in
      let* result =
        Concord_lwt.to_lwt (Concord_domainslib.submit pool (fun () -> fib n))
      in
      answer (string_of_int result)
  | [ ""; "ticket" ] ->
      let* n = Concord_lwt.Stream.take tickets in
      answer (Printf.sprintf "ticket %d" n)
  | [ ""; "note"; text ] ->
      Concord.Mailbox.add notes text;
      answer "noted"
  | [ ""; "table" ] ->
      let* table = Concord_lwt.Lazy.force table in
      answer table
  | [ ""; "slow" ] ->
      let asked = Concord.Promise.create () in
      let job =
        Concord_domainslib.submit pool (fun () ->
            Concord.Promise.await asked;
            "at last")
      in
      let* early =
        Concord_lwt.sync_before 0.01 (Concord.Promise.await_evt job)
      in
      Concord.Promise.fill asked ();
      let* late = Concord_lwt.to_lwt job in
      answer (Option.value early ~default:"not yet" ^ ", then " ^ late)
  | _ -> Server.respond_not_found ()

(* --- A client, and all of it ------------------------------------------------------ *)

(* A machine without the list of services doesn't know the port of http. *)
let context port =
  let hosts = Hashtbl.create 1 in
  Hashtbl.add hosts "board" (`TCP (Ipaddr.V4 Ipaddr.V4.localhost, port));
  Client.custom_ctx ~resolver:(Resolver_lwt_unix.static hosts) ()

let get ctx path =
  let* response, body =
    Client.get ~ctx (Uri.of_string ("http://board/" ^ path))
  in
  let+ text = Cohttp_lwt.Body.to_string body in
  match Cohttp.Response.status response with
  | `OK -> text
  | status -> Cohttp.Code.string_of_status status

let listen () =
  let socket = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, 0));
  Unix.listen socket 10;
  match Unix.getsockname socket with
  | ADDR_INET (_, port) -> (Lwt_unix.of_unix_file_descr socket, port)
  | ADDR_UNIX _ -> assert false

let serve_and_ask shared () =
  let socket, port = listen () in
  let client = context port in
  let stop, stopper = Lwt.wait () in
  let callback _ request _ = handle shared request in
  let server =
    Server.create ~stop ~mode:(`TCP (`Socket socket)) (Server.make ~callback ())
  in
  (* All requests come at once, and none keeps another from being served. *)
  let paths =
    [ "fib/25"; "table"; "note/milk"; "fib/20"; "table"; "slow"; "nothing" ]
  in
  let* answers = Lwt_list.map_p (get client) paths in
  List.iter2 (Printf.printf "  %-9s %s\n%!") paths answers;
  let* first = get client "ticket" in
  let* second = get client "ticket" in
  Printf.printf "  %s, %s\n%!" first second;
  Lwt.wakeup stopper ();
  server

let try_under name run =
  print_endline name;
  let pool = Task.setup_pool ~num_domains:1 () in
  Concord_domainslib.attach pool;
  let shared = share pool in
  let domain = eio_domain shared in
  run (serve_and_ask shared);
  Concord.Stream.close shared.tickets;
  Concord.Mailbox.close shared.notes;
  print_endline ("  kept: " ^ String.concat ", " (Domain.join domain));
  Task.teardown_pool pool

let () =
  try_under "Lwt_main.run" (fun f -> Lwt_main.run (f ()));
  try_under "Concord_lwt.run" Concord_lwt.run
