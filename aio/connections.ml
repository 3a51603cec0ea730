open Concord

let close_quietly fd = try Descriptor.close fd with Unix.Unix_error _ -> ()

(* Sockets that aren't of TCP don't have the option. *)
let send_at_once fd =
  try Unix.setsockopt fd TCP_NODELAY true with Unix.Unix_error _ -> ()

(* --- Servers -------------------------------------------------------------------- *)

let print format =
  Printf.eprintf ("Concord_aio.run_server: " ^^ format ^^ "\n%!")

let print_error _ e =
  print "serving a connection has failed: %s" (Printexc.to_string e)

let print_shortage e =
  print
    "no descriptor or memory is left for the next connection (%s), so it \
     waits. Raise the limit (ulimit -n), or pass a smaller ~connections"
    (match e with
    | Unix.Unix_error (error, _, _) -> Unix.error_message error
    | e -> Printexc.to_string e)

(* A cancellation of the host isn't a failure of [serve]. *)
let serve_one serve on_error fd peer =
  send_at_once fd;
  try Io.owned "run_server" fd (fun fd -> serve fd peer)
  with e -> (
    match Scope.cause e (Printexc.get_raw_backtrace ()) with
    | Cancellation (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
    | Failure (e, _) -> on_error peer e)

let is_shortage = function
  | Unix.Unix_error ((EMFILE | ENFILE | ENOBUFS | ENOMEM), _, _) -> true
  | _ -> false

let pause = 0.05

(* The first timeout of a program starts a thread that needs descriptors. It is started here,
   because there may be none when the first pause is needed. *)
let start_timer () =
  ignore (Event.sync_before 0.000_1 Event.never : unit option)

let run_server ?(connections = 1000) ?(stop = Event.never)
    ?(on_error = print_error) ?(on_shortage = print_shortage) listener serve =
  if connections < 1 then
    Printf.ksprintf invalid_arg
      "Concord_aio.run_server: connections is below 1 (%d)" connections;
  start_timer ();
  let free = Semaphore.Counting.make connections in
  let or_stop event =
    Event.select
      [ Event.wrap event Option.some; Event.wrap stop (fun () -> None) ]
  in
  let handle (fd, peer) =
    Fun.protect
      ~finally:(fun () -> Semaphore.Counting.release free)
      (fun () -> serve_one serve on_error fd peer)
  in
  Scope.run @@ fun scope ->
  let start connection =
    try Scope.fork scope (fun () -> handle connection)
    with e ->
      let backtrace = Printexc.get_raw_backtrace () in
      close_quietly (fst connection);
      Printexc.raise_with_backtrace e backtrace
  in
  let rec next () =
    match or_stop (Semaphore.Counting.acquire_evt free) with
    | None -> ()
    | Some () -> accept ~is_short:false
  and accept ~is_short =
    match or_stop (Descriptor.accept_evt listener) with
    | None -> ()
    | Some connection ->
        start connection;
        next ()
    | exception e when is_shortage e ->
        if not is_short then on_shortage e;
        if Option.is_some (or_stop (Event.timeout pause)) then
          accept ~is_short:true
  in
  next ()

(* --- Clients -------------------------------------------------------------------- *)

(* The addresses of the two families by turns, beginning with the first one's. *)
let by_turns addresses =
  let family { Unix.ai_family; _ } = ai_family in
  let rec merge a b =
    match (a, b) with x :: a, b -> x :: merge b a | [], b -> b
  in
  match addresses with
  | [] -> []
  | first :: _ ->
      let is_like x = family x = family first in
      let like, others = List.partition is_like addresses in
      merge like others

let resolve_streams host service =
  Descriptor.getaddrinfo host service [ AI_SOCKTYPE SOCK_STREAM ]

(* If there is no descriptor for the sockets and files that the C library needs, it says that it
   knows no address. *)
let no_address () =
  match Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 with
  | fd ->
      close_quietly fd;
      Unix.EHOSTUNREACH
  | exception Unix.Unix_error (error, _, _) -> error

(* An attempt that is connected just when another one has won returns a socket that nobody gets.
   So all sockets are closed here, after all attempts have ended. *)
let connect_by_name ?(delay = 0.25) ?(resolve = resolve_streams) host service =
  let opened = Atomic.make [] in
  let attempt { Unix.ai_family; ai_protocol; ai_addr; _ } () =
    let fd = Unix.socket ~cloexec:true ai_family SOCK_STREAM ai_protocol in
    Private.Atomically.update opened (List.cons fd);
    Descriptor.connect fd ai_addr;
    fd
  in
  let close_but winner =
    List.iter
      (fun fd -> if Some fd <> winner then close_quietly fd)
      (Atomic.get opened)
  in
  let failed error = Unix.Unix_error (error, "connect_by_name", host) in
  match by_turns (resolve host service) with
  | [] -> raise (failed (no_address ()))
  | addresses -> (
      match Tasks.hedge ~delay (List.map attempt addresses) with
      | winner ->
          close_but (Some winner);
          send_at_once winner;
          winner
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          close_but None;
          let e =
            match e with
            | Unix.Unix_error (error, _, _) -> failed error
            | e -> e
          in
          Printexc.raise_with_backtrace e backtrace)
