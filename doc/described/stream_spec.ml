open Description

module Make (Of : sig
  val name : string
  val capacity : int
end) =
struct
  type state = { items : int list; (* the first one first *) closed : bool }
  type operation = Add of int | Take | Drain | Close | Is_closed | Length

  let name = Of.name
  let initial = { items = []; closed = false }

  let operations n =
    often
      [ Add n; Add n; Add n; Add n; Take; Take; Take; Drain; Length; Is_closed ]
    @ [ Close ]

  let line = function
    | Add _ -> Some 0
    | Take -> Some 1
    | Drain | Close | Is_closed | Length -> None

  let perform ~waiting:_ s operation =
    match (operation, s.items) with
    | Add _, _ when s.closed -> Returns (s, "raises Closed")
    | Add v, _ when List.length s.items < Of.capacity ->
        Returns ({ s with items = s.items @ [ v ] }, "()")
    | Add _, _ -> Waits
    | Take, v :: items -> Returns ({ s with items }, string_of_int v)
    | Take, [] when s.closed -> Returns (s, "raises Closed")
    | Take, [] -> Waits
    | Drain, items ->
        let all = String.concat " " (List.map string_of_int items) in
        Returns ({ s with items = [] }, all)
    | Close, _ -> Returns ({ s with closed = true }, "()")
    | Is_closed, _ -> Returns (s, string_of_bool s.closed)
    | Length, items -> Returns (s, string_of_int (List.length items))

  let if_cancelled _ = Leaves

  (* Items that other tasks brought may be missed while they are moved. [drain]
     takes the items of one moment, and removes them a little later. *)
  let beside = function
    | Take | Add _ -> May_miss
    | Close | Is_closed -> Exact
    | Length -> Exact_alone
    | Drain -> Inexact

  let show = function
    | Add v -> Printf.sprintf "add %d" v
    | Take -> "take"
    | Drain -> "drain"
    | Close -> "close"
    | Is_closed -> "is_closed"
    | Length -> "length"

  let looks = [ Is_closed; Drain; Drain ]
end
