open Description

type state = Unresolved | Resolved of string

type operation =
  | Await
  | Fill of int
  | Fail of int  (** With an exception that has this number. *)
  | Peek

let name = "Promise"
let initial = Unresolved

let operations n =
  [ Await; Await; Peek ] @ if n mod 3 = 0 then [ Fill n; Fail n ] else []

let line = function Await -> Some 0 | Fill _ | Fail _ | Peek -> None

let perform ~waiting:_ state operation =
  match (operation, state) with
  | Await, Unresolved -> Waits
  | (Await | Peek), Resolved result -> Returns (state, result)
  | Peek, Unresolved -> Returns (state, "none")
  | Fill v, Unresolved -> Returns (Resolved (string_of_int v), "()")
  | Fail n, Unresolved -> Returns (Resolved (Printf.sprintf "raises %d" n), "()")
  | (Fill _ | Fail _), Resolved _ -> Returns (state, "raises Already_filled")

let beside _ = Exact

let show = function
  | Await -> "await"
  | Fill v -> Printf.sprintf "fill %d" v
  | Fail v -> Printf.sprintf "fail %d" v
  | Peek -> "peek"

let looks = [ Peek ]
