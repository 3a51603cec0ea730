open Description

type state = Empty | Full of int | Held (* by a swap or modify *)

type operation =
  | Put of int
  | Take
  | Read
  | Swap of int
  | Modify of int  (** Adds this number. *)
  | Give of int * int  (** Ends a swap or modify: the new value, and the old. *)
  | Is_empty

let name = "Mvar"
let initial = Empty

let operations n =
  [ Put n; Put n; Take; Take; Read; Swap n; Modify n; Is_empty ]

let line = function
  | Take | Read | Swap _ | Modify _ -> Some 0
  | Put _ -> Some 1
  | Give _ | Is_empty -> None

let perform ~waiting:_ box operation =
  match (operation, box) with
  | Put v, Empty -> Returns (Full v, "()")
  | Take, Full v -> Returns (Empty, string_of_int v)
  | Read, Full v -> Returns (box, string_of_int v)
  | Swap next, Full v -> Continues (Held, Give (next, v))
  | Modify n, Full v -> Continues (Held, Give (v + n, v))
  | (Put _ | Take | Read | Swap _ | Modify _), _ -> Waits
  | Give (next, v), _ -> Returns (Full next, string_of_int v)
  | Is_empty, Full _ -> Returns (box, "false")
  | Is_empty, (Empty | Held) -> Returns (box, "true")

let if_cancelled _ = Leaves

(* While a value is handed over, the box is neither empty nor full. *)
let beside = function
  | Put _ | Take | Read | Swap _ | Modify _ -> May_miss
  | Is_empty -> Exact_alone
  | Give _ -> Inexact

let show = function
  | Put v -> Printf.sprintf "put %d" v
  | Take -> "take"
  | Read -> "read"
  | Swap v -> Printf.sprintf "swap %d" v
  | Modify n -> Printf.sprintf "modify (+ %d)" n
  | Give (v, _) -> Printf.sprintf "give %d" v
  | Is_empty -> "is_empty"

let looks = [ Take; Take ]
