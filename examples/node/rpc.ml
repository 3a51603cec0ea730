open Concord
open Http_message
open Http_service

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
  (`OK, String.concat "\n" (Workers.run pool query))

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

let answer chain pool ~stop (request : Http.Request.t) body =
  let target = request.resource in
  let parameter = Target.parameter target in
  match (request.meth, Target.path target) with
  | `POST, [ "transactions" ] -> submit chain body
  | (`GET | `HEAD), [ "head" ] -> (`OK, show (Watch.get (Chain.head chain)))
  | (`GET | `HEAD), [ "status" ] ->
      status chain (Option.value (parameter "transaction") ~default:"")
  | (`GET | `HEAD), [ "search" ] ->
      search chain pool (Option.value (parameter "text") ~default:"")
  | (`GET | `HEAD), [ "wait" ] -> (
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

let serve (limits : Http_limits.t) chain pool ~log ~stop socket =
  let { Http_limits.max_connections; idle_timeout; transfer_timeout } =
    limits
  in
  let handle request body =
    let status, text = answer chain pool ~stop request body in
    Message.answer status text
  in
  Lwt_service.Lwt_host.with_listener socket @@ fun host ->
  (* The program limits the time after the signal. *)
  Server.run
    { idle_timeout; transfer_timeout; drain = stop; log }
    ~max_connections ~grace:infinity host handle
