open Description

type state = bool (* whether there is a permit *)
type operation = Acquire | Release

let name = "Semaphore.Binary"
let initial = false
let operations _ = [ Acquire; Release ]
let line = function Acquire -> Some 0 | Release -> None

let perform ~waiting:_ permit = function
  | Acquire when permit -> Returns (false, "()")
  | Acquire -> Waits
  | Release -> Returns (true, "()")

let if_cancelled _ = Leaves
let beside _ = Exact
let show = function Acquire -> "acquire" | Release -> "release"
let looks = [ Acquire ]
