open Results

module Of_channel = struct
  include Channel_spec

  type t = int Channel.t

  let create () = Channel.create ()

  let call t operation =
    closed @@ fun () ->
    match operation with
    | Send v -> unit (Channel.send t v)
    | Receive -> int (Channel.receive t)
    | Close -> unit (Channel.close t)
    | Is_closed -> bool (Channel.is_closed t)

  let event t = function
    | Send v -> closing_event unit (Channel.send_evt t v)
    | Receive -> closing_event int (Channel.receive_evt t)
    | Close | Is_closed -> None

  let try_call t = function
    | Send v ->
        tried_closing (fun () ->
            if Channel.try_send t v then Some "()" else None)
    | Receive ->
        tried_closing (fun () -> Option.map int (Channel.try_receive t))
    | Close | Is_closed -> None

  let waiters = Channel.waiters
end
