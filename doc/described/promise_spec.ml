open Description

type state = Unresolved | Resolved of string

type operation =
  | Await
  | Fill of int
  | Fail of int  (** With an exception that has this number. *)
  | Try_fill of int
  | Try_fail of int
  | Peek
  | Is_resolved

let name = "Promise"
let initial = Unresolved

let operations n =
  [ Await; Await; Await; Await; Await; Peek; Is_resolved ]
  @ [ Fill n; Fail n; Try_fill n; Try_fail n ]

let line = function
  | Await -> Some 0
  | Fill _ | Fail _ | Try_fill _ | Try_fail _ | Peek | Is_resolved -> None

let value v = string_of_int v
let failure n = Printf.sprintf "raises %d" n

let perform ~waiting:_ state operation =
  match (operation, state) with
  | Await, Unresolved -> Waits
  | (Await | Peek), Resolved result -> Returns (state, result)
  | Peek, Unresolved -> Returns (state, "none")
  | Is_resolved, _ -> Returns (state, string_of_bool (state <> Unresolved))
  | Fill v, Unresolved -> Returns (Resolved (value v), "()")
  | Fail n, Unresolved -> Returns (Resolved (failure n), "()")
  | Try_fill v, Unresolved -> Returns (Resolved (value v), "true")
  | Try_fail n, Unresolved -> Returns (Resolved (failure n), "true")
  | (Try_fill _ | Try_fail _), Resolved _ -> Returns (state, "false")
  | (Fill _ | Fail _), Resolved _ -> Returns (state, "raises Already_filled")

let if_cancelled _ = Leaves
let beside _ = Exact

let show = function
  | Await -> "await"
  | Fill v -> Printf.sprintf "fill %d" v
  | Fail v -> Printf.sprintf "fail %d" v
  | Try_fill v -> Printf.sprintf "try_fill %d" v
  | Try_fail v -> Printf.sprintf "try_fail %d" v
  | Peek -> "peek"
  | Is_resolved -> "is_resolved"

let looks = [ Peek ]
