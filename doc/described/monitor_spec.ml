open Description

(* [wake_ups] is how many tasks in the condition's line have to be woken. *)
type state = { locked : bool; wake_ups : int }

type operation =
  | Lock
  | Unlock
  | Wait
  | Sleep  (** The wait for a signal, after the mutex was unlocked. *)
  | Lock_again of string  (** At the end of a wait, with its result. *)
  | Signal
  | Broadcast

let name = "Condition, with a mutex"
let initial = { locked = false; wake_ups = 0 }

let operations _ =
  [ Lock; Lock; Lock; Unlock; Wait; Wait; Wait; Signal; Signal; Broadcast ]

let line = function
  | Lock | Lock_again _ -> Some 0
  | Sleep -> Some 1
  | Unlock | Wait | Signal | Broadcast -> None

let perform ~waiting s operation =
  let sleeping = List.length (List.filter (( = ) Sleep) waiting) in
  match operation with
  | Lock when s.locked -> Waits
  | Lock -> Returns ({ s with locked = true }, "()")
  | Unlock when s.locked -> Returns ({ s with locked = false }, "()")
  | (Unlock | Wait) when not s.locked -> Returns (s, not_permitted)
  | Unlock -> assert false
  | Wait -> Continues ({ locked = false; wake_ups = 0 }, Sleep)
  | Sleep when s.wake_ups > 0 ->
      Continues ({ s with wake_ups = s.wake_ups - 1 }, Lock_again "()")
  | Sleep -> Waits
  | Lock_again _ when s.locked -> Waits
  | Lock_again result -> Returns ({ s with locked = true }, result)
  | Signal -> Returns ({ s with wake_ups = min 1 sleeping }, "()")
  | Broadcast -> Returns ({ s with wake_ups = sleeping }, "()")

let if_cancelled = function
  | Sleep -> Performs (Lock_again withdrawn)
  | Lock_again _ -> Stays
  | _ -> Leaves

let beside = function Sleep | Lock_again _ -> Inexact | _ -> Exact

let show = function
  | Lock -> "lock"
  | Unlock -> "unlock"
  | Wait -> "wait"
  | Sleep -> "sleep"
  | Lock_again _ -> "lock again"
  | Signal -> "signal"
  | Broadcast -> "broadcast"

let looks = []
