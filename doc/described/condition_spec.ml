open Description

type state = unit
type operation = Wait | Signal | Broadcast

let name = "Condition, without a mutex"
let initial = ()
let operations _ = [ Wait; Wait; Wait; Signal; Broadcast ]
let line = function Wait -> Some 0 | Signal | Broadcast -> None
let done_ = Returns ((), "()")

let perform ~waiting:_ () = function
  | Wait -> Waits
  | Signal ->
      let accepted _ = done_ in
      Wakes_one { line = 0; result = "()"; accepted; nobody = done_ }
  | Broadcast -> Wakes_all { lines = [ 0 ]; result = "()"; next = done_ }

let if_cancelled _ = Leaves
let beside _ = Exact

let show = function
  | Wait -> "wait_no_mutex"
  | Signal -> "signal"
  | Broadcast -> "broadcast"

let looks = []
