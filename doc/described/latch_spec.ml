open Description

type state = int (* it is open if this is 0 *)
type operation = Await | Count_down | Count_up | Count | Is_open

let name = "Latch"
let initial = 3

let operations _ =
  [ Await; Await; Await; Count_down; Count_down; Count_up; Count; Is_open ]

let line = function
  | Await -> Some 0
  | Count_down | Count_up | Count | Is_open -> None

let perform ~waiting:_ left operation =
  match operation with
  | Await when left > 0 -> Waits
  | Await -> Returns (left, "()")
  | Count -> Returns (left, string_of_int left)
  | Is_open -> Returns (left, string_of_bool (left = 0))
  | (Count_down | Count_up) when left = 0 -> Returns (0, "is open")
  | Count_down -> Returns (left - 1, "()")
  | Count_up -> Returns (left + 1, "()")

let if_cancelled _ = Leaves
let beside _ = Exact

let show = function
  | Await -> "await"
  | Count_down -> "count_down"
  | Count_up -> "count_up"
  | Count -> "count"
  | Is_open -> "is_open"

let looks = [ Count ]
