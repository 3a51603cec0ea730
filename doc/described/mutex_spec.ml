open Description

type state = Free | Locked
type operation = Lock | Unlock | Is_locked

let name = "Mutex"
let initial = Free
let operations _ = [ Lock; Lock; Lock; Unlock; Unlock; Is_locked ]
let line = function Lock -> Some 0 | Unlock | Is_locked -> None

let perform ~waiting:_ state operation =
  match (operation, state) with
  | Lock, Free -> Returns (Locked, "()")
  | Lock, Locked -> Waits
  | Unlock, Locked -> Returns (Free, "()")
  | Unlock, Free -> Returns (Free, "not permitted")
  | Is_locked, _ -> Returns (state, string_of_bool (state = Locked))

let beside _ = Exact

let show = function
  | Lock -> "lock"
  | Unlock -> "unlock"
  | Is_locked -> "is_locked"

let looks = [ Is_locked ]
