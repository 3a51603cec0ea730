open Results

module Of (Of : sig
  val limit : Broadcast_spec.limit
end) =
struct
  include Broadcast_spec.Make (Of)

  type t = {
    broadcast : int Broadcast.t;
    subscriptions : int Broadcast.subscription array;
    ended : bool array;
  }

  let create () =
    let limit : Broadcast.limit option =
      match Of.limit with
      | Unlimited -> None
      | Drop_oldest n -> Some (Drop_oldest n)
      | Wait n -> Some (Wait n)
    in
    let broadcast = Broadcast.create ?limit () in
    let subscribe _ = Broadcast.subscribe broadcast in
    {
      broadcast;
      subscriptions = Array.init 2 subscribe;
      ended = [| false; false |];
    }

  let lagged n = "raises Lagged " ^ int n

  let received f =
    closed (fun () -> try f () with Broadcast.Lagged n -> lagged n)

  let unsubscribe { subscriptions; ended; _ } i =
    Broadcast.unsubscribe subscriptions.(i);
    ended.(i) <- true

  let subscribe { broadcast; subscriptions; ended } i =
    let may = ended.(i) in
    if may then subscriptions.(i) <- Broadcast.subscribe broadcast;
    ended.(i) <- false;
    may

  let try_receive { subscriptions; _ } i =
    match Broadcast.try_receive subscriptions.(i) with
    | v -> Option.map int v
    | exception Broadcast.Lagged n -> Some (lagged n)
    | exception Broadcast.Closed -> Some "raises Closed"

  let call ({ broadcast; subscriptions; _ } as t) = function
    | Send v -> closed (fun () -> unit (Broadcast.send broadcast v))
    | Receive -> received (fun () -> int (Broadcast.receive subscriptions.(0)))
    | Try_receive i -> Option.value ~default:"none" (try_receive t i)
    | Drain i ->
        let drain () = Broadcast.drain subscriptions.(i) in
        received (fun () -> String.concat " " (List.map int (drain ())))
    | Unsubscribe i -> unit (unsubscribe t i)
    | Subscribe i -> bool (subscribe t i)
    | Close -> unit (Broadcast.close broadcast)
    | Is_closed -> bool (Broadcast.is_closed broadcast)

  let event { broadcast; subscriptions; _ } = function
    | Send v -> closing_event unit (Broadcast.send_evt broadcast v)
    | Receive ->
        let receive = Broadcast.receive_evt subscriptions.(0) in
        let result = function
          | Ok v -> int v
          | Error e -> received (fun () -> raise e)
        in
        event result (Event.to_result receive)
    | Try_receive _ | Drain _ | Unsubscribe _ | Subscribe _ | Close | Is_closed
      ->
        None

  let try_call ({ broadcast; _ } as t) = function
    | Send v ->
        let sends () = Broadcast.try_send broadcast v in
        tried_closing (fun () -> if sends () then Some "()" else None)
    | Receive -> Some (try_receive t 0)
    | Try_receive _ | Drain _ | Unsubscribe _ | Subscribe _ | Close | Is_closed
      ->
        None

  let waiters { broadcast; subscriptions; _ } =
    Array.fold_left
      (fun n s -> n + Broadcast.waiters s)
      (Broadcast.senders broadcast)
      subscriptions
end

module Unlimited = Of (struct
  let limit = Broadcast_spec.Unlimited
end)

module Dropping = Of (struct
  let limit = Broadcast_spec.Drop_oldest 2
end)

module Waiting = Of (struct
  let limit = Broadcast_spec.Wait 2
end)
