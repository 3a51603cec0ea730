open Description

type state = { value : int; is_changed : bool; closed : bool }

type operation =
  | Changed  (** Waits for a later version than the first one. *)
  | Next  (** Waits for a later version than the current one. *)
  | Set of int
  | Get
  | Close
  | Is_closed

let name = "Watch"
let initial = { value = 0; is_changed = false; closed = false }

let operations n =
  often [ Changed; Changed; Next; Set n; Set n; Get; Is_closed ] @ [ Close ]

let line = function
  | Changed -> Some 0
  | Next -> Some 1
  | Set _ | Get | Close | Is_closed -> None

let perform ~waiting:_ s = function
  | Changed when s.is_changed -> Returns (s, string_of_int s.value)
  | (Changed | Next | Set _) when s.closed -> Returns (s, "raises Closed")
  | Changed | Next -> Waits
  | Set value ->
      let next = Returns ({ s with value; is_changed = true }, "()") in
      Wakes_all { lines = [ 0; 1 ]; result = string_of_int value; next }
  | Get -> Returns (s, string_of_int s.value)
  | Close ->
      let next = Returns ({ s with closed = true }, "()") in
      Wakes_all { lines = [ 0; 1 ]; result = "raises Closed"; next }
  | Is_closed -> Returns (s, string_of_bool s.closed)

let if_cancelled _ = Leaves

(* To learn the current version is a step of its own. *)
let beside = function
  | Next -> Inexact
  | Changed | Set _ | Get | Close | Is_closed -> Exact

let show = function
  | Changed -> "changed"
  | Next -> "changed, since now"
  | Set v -> Printf.sprintf "set %d" v
  | Get -> "get"
  | Close -> "close"
  | Is_closed -> "is_closed"

let looks = [ Get; Is_closed ]
