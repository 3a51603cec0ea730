open Description

type state = Free | Locked
type operation = Lock | Protect | Unlock | Is_locked

let name = "Mutex"
let initial = Free
let operations _ = [ Lock; Lock; Lock; Protect; Unlock; Unlock; Is_locked ]
let line = function Lock | Protect -> Some 0 | Unlock | Is_locked -> None

let perform ~waiting:_ state operation =
  match (operation, state) with
  | Lock, Free -> Returns (Locked, "()")
  | Protect, Free -> Continues (Locked, Unlock)
  | (Lock | Protect), Locked -> Waits
  | Unlock, Locked -> Returns (Free, "()")
  | Unlock, Free -> Returns (Free, not_permitted)
  | Is_locked, _ -> Returns (state, string_of_bool (state = Locked))

let if_cancelled _ = Leaves
let beside _ = Exact

let show = function
  | Lock -> "lock"
  | Protect -> "protect"
  | Unlock -> "unlock"
  | Is_locked -> "is_locked"

let looks = [ Is_locked ]
