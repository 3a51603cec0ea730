open Concord

type ports = { listen : int; rpc : int }

(* The pool searches for a block while transactions are pending. If another block becomes the
   head first, the search is useless. Then [Tasks.first] cancels the fiber that waits for the
   search, and the job in the pool is told to stop. A search may occupy a domain of the pool
   for a long time, so it yields to other jobs now and then. *)
let rec mine chain ~pool ~stop =
  let unless_stopped event =
    Event.sync (Event.unless (Promise.await_evt stop) event)
  in
  let { Chain.parent; transactions; stale; more } = Chain.work chain in
  let search token =
    Block.search ~parent transactions ~difficulty:(Chain.difficulty chain)
      ~continue:(fun () ->
        Workers.check token;
        Tasks.yield ())
  in
  let next =
    if transactions = [] then unless_stopped more
    else
      Tasks.first
        (fun () ->
          let block = Workers.run_stoppable pool search in
          Some (ignore (Chain.add chain block : Chain.added)))
        (fun () -> unless_stopped stale)
  in
  if next <> None then mine chain ~pool ~stop

let run ~net ~pool ~lwt ~log ~stop ~ports ~limits ~peers chain =
  Eio.Switch.run @@ fun sw ->
  let socket = Rpc.listen ~port:ports.listen in
  Eio.Switch.on_release sw (fun () -> Concord_aio.close socket);
  let rpc = Rpc.listen ~port:ports.rpc in
  let t = { Peers.chain; pool; stop; log } in
  Eio.Fiber.all
    [
      (fun () -> Peers.accept t socket);
      (fun () -> Eio.Fiber.List.iter (Peers.dial t net) peers);
      (fun () -> mine chain ~pool ~stop);
      (fun () ->
        Concord_lwt.call lwt (fun () ->
            Rpc.serve limits chain pool ~log ~stop rpc));
    ]
