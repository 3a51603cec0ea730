open Description

type state = int (* it is open if this is 0 *)
type operation = Await | Count_down | Count_up | Count

let name = "Latch"
let initial = 3

let operations _ =
  [ Await; Await; Await; Count_down; Count_down; Count_up; Count ]

let line = function Await -> Some 0 | Count_down | Count_up | Count -> None

let perform ~waiting:_ left operation =
  match operation with
  | Await when left > 0 -> Waits
  | Await -> Returns (left, "()")
  | Count -> Returns (left, string_of_int left)
  | (Count_down | Count_up) when left = 0 -> Returns (0, "is open")
  | Count_down -> Returns (left - 1, "()")
  | Count_up -> Returns (left + 1, "()")

let beside _ = Exact

let show = function
  | Await -> "await"
  | Count_down -> "count_down"
  | Count_up -> "count_up"
  | Count -> "count"

let looks = [ Count ]
