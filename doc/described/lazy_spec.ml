open Description

type result = Value of int | Failure of int
type state = Unforced | Forcing | Offered of result | Forced of result

(* The computation waits until a task gives it a result. *)
type operation =
  | Force
  | Compute  (** The wait of the task that computes the value. *)
  | Settle of result
  | Pass_on  (** The computing task was cancelled. *)
  | Give of result
  | Await  (** The event, which doesn't start the computation. *)
  | Peek

let name = "Lazy"
let initial = Unforced

let operations n =
  often [ Force; Force; Force; Await; Peek ]
  @ [ Give (Value n); Give (Failure n) ]

let line = function
  | Force -> Some 0
  | Await -> Some 1
  | Compute -> Some 2
  | Settle _ | Pass_on | Give _ | Peek -> None

let text = function
  | Value v -> string_of_int v
  | Failure n -> Printf.sprintf "raises %d" n

let perform ~waiting state operation =
  match (operation, state) with
  | Force, Unforced -> Continues (Forcing, Compute)
  | (Force | Await | Peek), Forced result -> Returns (state, text result)
  | (Force | Await), _ -> Waits
  | Compute, Offered result -> Continues (Forcing, Settle result)
  | Compute, _ -> Waits
  | Settle result, _ -> Returns (Forced result, text result)
  | Pass_on, _ -> Returns (Unforced, withdrawn)
  | Give result, Forcing when List.mem Compute waiting ->
      Returns (Offered result, "()")
  | Give _, _ -> Returns (state, "()")
  | Peek, _ -> Returns (state, "none")

let if_cancelled = function Compute -> Performs Pass_on | _ -> Leaves

let beside = function
  | Force | Await | Peek -> Exact
  | Give _ -> Inexact
  | Compute | Settle _ | Pass_on -> Inexact

let show = function
  | Force -> "force"
  | Compute -> "compute"
  | Settle result -> "settle " ^ text result
  | Pass_on -> "pass on"
  | Give result -> "the computation " ^ text result
  | Await -> "await_evt"
  | Peek -> "peek"

let looks = [ Peek ]
