open Description

type limit = Unlimited | Drop_oldest of int | Wait of int

(* A broadcast with two subscriptions, which have the numbers 0 and 1. Tasks
   wait only in the first one, because the order between tasks of several
   subscriptions isn't specified. *)
module Make (Of : sig
  val limit : limit
end) =
struct
  type subscription = {
    pending : int list;  (** The first one first. *)
    missed : int;  (** How many values it has still to be told about. *)
    ended : bool;
  }

  type state = { subscriptions : subscription list; closed : bool }

  type operation =
    | Send of int
    | Receive  (** From the first one. *)
    | Try_receive of int
    | Drain of int
    | Unsubscribe of int
    | Subscribe of int  (** Replaces a subscription that has ended. *)
    | Close
    | Is_closed

  let name =
    match Of.limit with
    | Unlimited -> "Broadcast"
    | Drop_oldest n -> Printf.sprintf "Broadcast, drops all but %d" n
    | Wait n -> Printf.sprintf "Broadcast, waits at %d" n

  let fresh = { pending = []; missed = 0; ended = false }
  let initial = { subscriptions = [ fresh; fresh ]; closed = false }

  let operations n =
    let i = n mod 2 in
    often
      [
        Send n; Send n; Send n; Receive; Receive; Receive; Try_receive i;
        Try_receive 1; Drain i; Subscribe i; Is_closed;
      ]
    @ [ Unsubscribe i; Close ]
  [@@ocamlformat "disable"]

  let line = function
    | Receive -> Some 0
    | Send _ -> Some 1
    | Try_receive _ | Drain _ | Unsubscribe _ | Subscribe _ | Close | Is_closed
      ->
        None

  let is_full s =
    match Of.limit with
    | Wait n -> List.length s.pending >= n
    | Unlimited | Drop_oldest _ -> false

  let add v s =
    let pending = s.pending @ [ v ] in
    match Of.limit with
    | _ when s.ended -> s
    | Drop_oldest n when List.length pending > n ->
        { s with pending = List.tl pending; missed = s.missed + 1 }
    | Unlimited | Drop_oldest _ | Wait _ -> { s with pending }

  let perform ~waiting:_ state operation =
    let subscription = List.nth state.subscriptions in
    let change i s =
      let other j old = if i = j then s else old in
      { state with subscriptions = List.mapi other state.subscriptions }
    in
    let lagged i s =
      let text = Printf.sprintf "raises Lagged %d" s.missed in
      Returns (change i { s with missed = 0 }, text)
    in
    let receive i ~otherwise =
      match subscription i with
      | s when s.missed > 0 -> lagged i s
      | { pending = v :: pending; _ } as s ->
          Returns (change i { s with pending }, string_of_int v)
      | { ended; _ } when ended || state.closed ->
          Returns (state, "raises Closed")
      | _ -> otherwise
    in
    match operation with
    | Send _ when state.closed -> Returns (state, "raises Closed")
    | Send _ when List.exists is_full state.subscriptions -> Waits
    | Send v ->
        let subscriptions = List.map (add v) state.subscriptions in
        Returns ({ state with subscriptions }, "()")
    | Receive -> receive 0 ~otherwise:Waits
    | Try_receive i -> receive i ~otherwise:(Returns (state, "none"))
    | Drain i -> (
        match subscription i with
        | s when s.missed > 0 -> lagged i s
        | s ->
            let all = String.concat " " (List.map string_of_int s.pending) in
            Returns (change i { s with pending = [] }, all))
    | Unsubscribe i -> Returns (change i { fresh with ended = true }, "()")
    | Subscribe i ->
        let may = (subscription i).ended in
        Returns ((if may then change i fresh else state), string_of_bool may)
    | Close ->
        let next = Returns ({ state with closed = true }, "()") in
        Wakes_all { lines = [ 1 ]; result = "raises Closed"; next }
    | Is_closed -> Returns (state, string_of_bool state.closed)

  let if_cancelled _ = Leaves

  (* While tasks are served, or with a limit, a value is passed on in several
     steps. *)
  let beside = function
    | _ when Of.limit <> Unlimited -> Inexact
    | Send _ | Receive -> May_miss
    | Close | Is_closed -> Exact
    | Try_receive _ | Drain _ -> Exact_alone
    | Unsubscribe _ | Subscribe _ -> Inexact

  let show = function
    | Send v -> Printf.sprintf "send %d" v
    | Receive -> "receive from 0"
    | Try_receive i -> Printf.sprintf "try_receive from %d" i
    | Drain i -> Printf.sprintf "drain %d" i
    | Unsubscribe i -> Printf.sprintf "unsubscribe %d" i
    | Subscribe i -> Printf.sprintf "subscribe %d again" i
    | Close -> "close"
    | Is_closed -> "is_closed"

  let looks = [ Drain 0; Drain 1; Drain 0; Drain 1; Is_closed ]
end
