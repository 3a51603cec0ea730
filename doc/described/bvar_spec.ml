open Description

type state = unit
type operation = Wait | Signal of int | Broadcast of int

let name = "Bvar"
let initial = ()
let operations n = [ Wait; Wait; Wait; Signal n; Broadcast n ]
let line = function Wait -> Some 0 | Signal _ | Broadcast _ -> None

let perform ~waiting:_ () = function
  | Wait -> Waits
  | Signal v ->
      let accepted _ = Returns ((), "true") in
      let nobody = Returns ((), "false") in
      Wakes_one { line = 0; result = string_of_int v; accepted; nobody }
  | Broadcast v ->
      let next = Returns ((), "()") in
      Wakes_all { lines = [ 0 ]; result = string_of_int v; next }

let if_cancelled _ = Leaves
let beside _ = Exact

let show = function
  | Wait -> "wait"
  | Signal v -> Printf.sprintf "signal %d" v
  | Broadcast v -> Printf.sprintf "broadcast %d" v

let looks = [ Signal 0 ]
