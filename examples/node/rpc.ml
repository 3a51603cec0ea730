open Concord
open Lwt.Syntax
module Server = Cohttp_lwt_unix.Server

(* --- The handlers, in direct style --- *)

let show (block : Block.t) = Printf.sprintf "%d %s" block.height block.hash

let submit chain text =
  match Chain.submit chain text with
  | () -> (`Accepted, "accepted")
  | exception Block.Invalid why -> (`Bad_request, why)

let status chain text =
  match Chain.confirmed chain text with
  | Some block -> (`OK, Printf.sprintf "confirmed in block %d" block.height)
  | None ->
      if Chain.Transactions.mem text (Watch.get (Chain.pending chain)) then
        (`OK, "pending")
      else (`Not_found, "unknown")

let contains text ~part =
  let length = String.length part in
  let rec from i =
    i + length <= String.length text
    && (String.sub text i length = part || from (i + 1))
  in
  from 0

(* A query that reads the whole chain would block Lwt's loop, so a pool computes it. *)
let search chain pool part =
  let query () = Chain.matching chain (contains ~part) in
  (`OK, String.concat "\n" (Concord_domainslib.run pool query))

let wait chain ~stop ~height ~transaction =
  let deadline = Event.at (Unix.gettimeofday () +. 30.) in
  let give_up = Event.choose [ Promise.await_evt stop; deadline ] in
  let rec look () =
    let head, seen = Watch.read (Chain.head chain) in
    if head.height >= height || Chain.confirmed chain transaction <> None then
      (`OK, show head)
    else
      let changed = Watch.changed_evt (Chain.head chain) ~since:seen in
      match Event.sync (Event.unless give_up changed) with
      | Some _ -> look ()
      | None -> (`Gateway_timeout, "not yet")
  in
  look ()

let answer chain pool ~stop request body =
  let uri = Cohttp.Request.uri request in
  let parameter = Uri.get_query_param uri in
  match (Cohttp.Request.meth request, Uri.path uri) with
  | `POST, "/transactions" -> submit chain body
  | `GET, "/head" -> (`OK, show (Watch.get (Chain.head chain)))
  | `GET, "/status" ->
      status chain (Option.value (parameter "transaction") ~default:"")
  | `GET, "/search" ->
      search chain pool (Option.value (parameter "text") ~default:"")
  | `GET, "/wait" -> (
      let transaction = Option.value (parameter "transaction") ~default:"" in
      match Option.map Decimal.int_or_max (parameter "height") with
      | None -> wait chain ~stop ~height:max_int ~transaction
      | Some (Some height) -> wait chain ~stop ~height ~transaction
      | Some None -> (`Bad_request, "the height must be a whole number"))
  | _ -> (`Not_found, "try /head, /status, /search, /wait or /transactions")

(* --- The server, in Lwt --- *)

let listen ~port =
  let socket = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  try
    Unix.setsockopt socket SO_REUSEADDR true;
    Unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, port));
    Unix.listen socket 100;
    socket
  with e ->
    Unix.close socket;
    raise e

let serve chain pool ~stop socket =
  (* The latch counts the server itself and each request in progress. *)
  let busy = Latch.create 1 in
  let headers = Cohttp.Header.init_with "connection" "close" in
  let respond request body =
    let* body = Cohttp_lwt.Body.to_string body in
    let* status, text =
      Concord_lwt.direct (fun () -> answer chain pool ~stop request body)
    in
    Server.respond_string ~headers ~status ~body:(text ^ "\n") ()
  in
  let callback _connection request body =
    (* If a client has connected before the end, it may send its request only now. *)
    if Promise.is_resolved stop then
      Server.respond_error ~headers ~status:`Service_unavailable ~body:"stopped"
        ()
    else (
      Latch.count_up busy;
      Lwt.finalize
        (fun () -> respond request body)
        (fun () -> Lwt.return (Latch.count_down busy)))
  in
  let socket = Lwt_unix.of_unix_file_descr ~blocking:false socket in
  let* () =
    Server.create ~stop:(Concord_lwt.to_lwt stop)
      ~mode:(`TCP (`Socket socket))
      (Server.make ~callback ())
  in
  Latch.count_down busy;
  Concord_lwt.Latch.await busy
