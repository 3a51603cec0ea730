open Concord

type t = {
  chain : Chain.t;
  pool : Workers.t;
  stop : unit Promise.t;
  log : string -> unit;
}

let unless_stopped t event =
  Event.sync (Event.unless (Promise.await_evt t.stop) event)

(* --- Messages: the length in four bytes, then the message --- *)

(* A block with the longest transactions fits. *)
let max_length = 200_000
let patience = 10. (* in seconds *)

exception Deaf

let send t flow message =
  let frame =
    Workers.run t.pool (fun () ->
        Codec.encode Codec.write_string (Codec.encode Message.write message))
  in
  let write () = Eio.Flow.copy_string frame flow in
  if Tasks.with_timeout patience write = None then raise Deaf

let receive t reader =
  let length = Int32.to_int (Eio.Buf_read.BE.uint32 reader) in
  if length < 0 || length > max_length then
    Codec.malformed "a message has an invalid length, %d bytes" length;
  let text = Eio.Buf_read.take length reader in
  Workers.run t.pool (fun () ->
      let message = Codec.decode Message.read text in
      (match message with
      | Block block -> Block.check ~difficulty:(Chain.difficulty t.chain) block
      | Wanted _ | Transaction _ -> ());
      message)

(* --- Sending to the peer --- *)

(* One fiber sends everything: answers, the head, and transactions that are newly pending.
   Transactions in [sent] are not sent again. *)
let rec send_news t flow answers ~head_seen ~pending_seen ~sent =
  let news =
    Event.choose
      [
        Event.wrap (Stream.take_evt answers) (fun answer -> `Answer answer);
        Event.wrap
          (Watch.changed_evt (Chain.head t.chain) ~since:head_seen)
          (fun head -> `Head head);
        Event.wrap
          (Watch.changed_evt (Chain.pending t.chain) ~since:pending_seen)
          (fun pending -> `Pending pending);
      ]
  in
  match unless_stopped t news with
  | None -> ()
  | Some (`Answer message) ->
      send t flow message;
      send_news t flow answers ~head_seen ~pending_seen ~sent
  | Some (`Head (block, head_seen)) ->
      send t flow (Block block);
      send_news t flow answers ~head_seen ~pending_seen ~sent
  | Some (`Pending (pending, pending_seen)) ->
      send_transactions t flow (Chain.Transactions.diff pending sent);
      send_news t flow answers ~head_seen ~pending_seen ~sent:pending

and send_transactions t flow transactions =
  Chain.Transactions.iter
    (fun text -> send t flow (Transaction text))
    transactions

let send_all t flow answers =
  let head, head_seen = Watch.read (Chain.head t.chain) in
  let pending, pending_seen = Watch.read (Chain.pending t.chain) in
  send t flow (Block head);
  send_transactions t flow pending;
  send_news t flow answers ~head_seen ~pending_seen ~sent:pending

(* --- Receiving from the peer --- *)

(* [orphans] has the blocks whose parent was requested from the peer, indexed by that
   parent. *)
let rec adopt t answers orphans (block : Block.t) =
  match Chain.add t.chain block with
  | Orphan ->
      Hashtbl.replace orphans block.parent block;
      Stream.add answers (Message.Wanted block.parent)
  | Added | Known ->
      let child = Hashtbl.find_opt orphans block.hash in
      Hashtbl.remove orphans block.hash;
      Option.iter (adopt t answers orphans) child

let rec listen t reader answers orphans =
  (match receive t reader with
  | Block block -> adopt t answers orphans block
  | Transaction text -> Chain.submit t.chain text
  | Wanted hash ->
      let answer block = Stream.add answers (Message.Block block) in
      Option.iter answer (Chain.block t.chain hash));
  listen t reader answers orphans

(* --- Connections --- *)

let rec reason = function
  | End_of_file -> Some "closed the connection"
  | Deaf -> Some "does not read"
  | Codec.Malformed text | Block.Invalid text -> Some text
  | (Eio.Io _ | Unix.Unix_error _) as e -> Some (Printexc.to_string e)
  | Eio.Exn.Multiple failures ->
      (* Both fibers failed, so each failure needs a reason. *)
      let reasons = List.map (fun (e, _) -> reason e) failures in
      if List.mem None reasons then None else List.hd reasons
  | _ -> None

(* Runs [f], which talks with the peer until one of the two ends the connection. An exception
   without a reason is a fault of this program. It ends only this connection. *)
let until_dropped t address f =
  try f () with
  | Eio.Cancel.Cancelled _ as e -> raise e
  | e ->
      let why =
        match reason e with
        | Some why -> why
        | None -> "a fault of this node: " ^ Printexc.to_string e
      in
      t.log (Format.asprintf "%a: %s" Eio.Net.Sockaddr.pp address why)

(* After the signal, a peer that doesn't read can delay the end for this long. *)
let last_patience = 1. (* in seconds *)

let talk t flow =
  let reader = Eio.Buf_read.of_flow flow ~max_size:(max_length + 4) in
  let answers = Stream.create 10 in
  Eio.Fiber.any
    [
      (fun () -> send_all t flow answers);
      (fun () -> listen t reader answers (Hashtbl.create 10));
      (fun () ->
        Promise.await t.stop;
        Tasks.sleep last_patience);
    ]

let max_accepted = 100

let accept t socket =
  let serve socket peer =
    Eio.Switch.run @@ fun sw ->
    let flow = Eio_unix.Net.import_socket_stream ~sw ~close_unix:false socket in
    until_dropped t (Eio_unix.Net.sockaddr_of_unix_stream peer) (fun () ->
        talk t flow)
  and cannot e = t.log ("cannot accept: " ^ Printexc.to_string e) in
  Concord_aio.run_server ~connections:max_accepted
    ~stop:(Promise.await_evt t.stop) ~on_shortage:cannot socket serve

let rec dial t net address =
  until_dropped t address (fun () ->
      Eio.Switch.run @@ fun sw -> talk t (Eio.Net.connect ~sw net address));
  match unless_stopped t (Event.timeout 0.2) with
  | Some () -> dial t net address
  | None -> ()
