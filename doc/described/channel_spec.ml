open Description

type state = Open | Closed
type operation = Send of int | Receive | Close | Is_closed

let name = "Channel"
let initial = Open

let operations n =
  often [ Send n; Send n; Send n; Receive; Receive; Receive; Is_closed ]
  @ [ Close ]

let senders = 0
let receivers = 1

let line = function
  | Send _ -> Some senders
  | Receive -> Some receivers
  | Close | Is_closed -> None

let perform ~waiting:_ state operation =
  match (operation, state) with
  | (Send _ | Receive), Closed -> Returns (Closed, "raises Closed")
  | Send v, Open ->
      let accepted _ = Returns (Open, "()") in
      let result = string_of_int v in
      Wakes_one { line = receivers; result; accepted; nobody = Waits }
  | Receive, Open ->
      let accepted = function
        | Send v -> Returns (Open, string_of_int v)
        | Receive | Close | Is_closed -> assert false (* not in that line *)
      in
      Wakes_one { line = senders; result = "()"; accepted; nobody = Waits }
  | Close, _ -> Returns (Closed, "()")
  | Is_closed, _ -> Returns (state, string_of_bool (state = Closed))

let if_cancelled _ = Leaves

let beside = function
  | Send _ | Receive -> May_miss
  | Close | Is_closed -> Exact

let show = function
  | Send v -> Printf.sprintf "send %d" v
  | Receive -> "receive"
  | Close -> "close"
  | Is_closed -> "is_closed"

let looks = [ Is_closed ]
