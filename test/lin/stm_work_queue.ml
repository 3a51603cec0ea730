open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

(* QCheck's own function has different names in different versions. *)
let weighted choices =
  QCheck.Gen.oneof
    (List.concat_map (fun (n, g) -> List.init n (fun _ -> g)) choices)

let capacity = 3

(* Tickets are stored by value. On one domain, each value is added once. On two domains, the
   newest ticket of a value counts, so values are drawn from many. *)
module Spec = struct
  type sut = {
    queue : int Work_queue.t;
    tickets : (int, int Work_queue.ticket) Hashtbl.t;
  }

  type state = { items : int list; closed : bool }

  type cmd =
    | Try_add of int
    | Poll_add of int
    | Try_take
    | Poll_next
    | Poll_take
    | Withdraw of int
    | Drain
    | Length
    | Waiters
    | Close
    | Is_closed

  let show_cmd = function
    | Try_add v -> Printf.sprintf "try_add %d" v
    | Poll_add v -> Printf.sprintf "poll (add_evt %d)" v
    | Try_take -> "try_take"
    | Poll_next -> "poll next_evt"
    | Poll_take -> "poll take_evt"
    | Withdraw v -> Printf.sprintf "withdraw %d" v
    | Drain -> "drain"
    | Length -> "length"
    | Waiters -> "waiters"
    | Close -> "close"
    | Is_closed -> "is_closed"

  let init_state = { items = []; closed = false }

  let init_sut () =
    { queue = Work_queue.create capacity; tickets = Hashtbl.create 9 }

  let cleanup _ = ()
  let value = Gen.int_bound 9

  let arb_cmd _ =
    let open Gen in
    let add = map (fun v -> Try_add v) value
    and poll = map (fun v -> Poll_add v) value
    and withdraw = map (fun v -> Withdraw v) value in
    let others =
      List.map return
        [ Try_take; Poll_next; Poll_take; Drain; Length; Waiters; Is_closed ]
    in
    make ~print:show_cmd
      (weighted
         [
           (6, add);
           (3, poll);
           (8, withdraw);
           (6, oneof others);
           (1, return Close);
         ])

  (* A value is in the queue at most once. *)
  let precond cmd state =
    match cmd with
    | Try_add v | Poll_add v -> not (List.mem v state.items)
    | _ -> true

  let next_state cmd state =
    match (cmd, state.items) with
    | (Try_add v | Poll_add v), items
      when (not state.closed) && List.length items < capacity ->
        { state with items = items @ [ v ] }
    | (Try_take | Poll_next | Poll_take), _ :: items -> { state with items }
    | Withdraw v, items -> { state with items = List.filter (( <> ) v) items }
    | Drain, _ -> { state with items = [] }
    | Close, _ -> { state with closed = true }
    | _ -> state

  let added t v = function
    | None -> false
    | Some ticket ->
        Hashtbl.replace t.tickets v ticket;
        true

  let withdraw t v =
    match Hashtbl.find_opt t.tickets v with
    | None -> false
    | Some ticket -> Work_queue.withdraw ticket

  let run cmd t =
    match cmd with
    | Try_add v ->
        let add () = added t v (Work_queue.try_add t.queue v) in
        Res (result bool exn, protect add ())
    | Poll_add v ->
        let add () = added t v (Event.poll (Work_queue.add_evt t.queue v)) in
        Res (result bool exn, protect add ())
    | Try_take ->
        Res (result (option int) exn, protect Work_queue.try_take t.queue)
    | Poll_next ->
        let next = Event.poll (Work_queue.next_evt t.queue) in
        Res (option int, Option.join next)
    | Poll_take ->
        let poll () = Event.poll (Work_queue.take_evt t.queue) in
        Res (result (option int) exn, protect poll ())
    | Withdraw v -> Res (bool, withdraw t v)
    | Drain -> Res (list int, Work_queue.drain t.queue)
    | Length -> Res (int, Work_queue.length t.queue)
    | Waiters -> Res (int, Work_queue.waiters t.queue)
    | Close -> Res (unit, Work_queue.close t.queue)
    | Is_closed -> Res (bool, Work_queue.is_closed t.queue)

  let postcond cmd (state : state) res =
    let first = match state.items with [] -> None | v :: _ -> Some v in
    let is_full = List.length state.items = capacity in
    match (cmd, res) with
    | (Try_add _ | Poll_add _), Res ((Result (Bool, Exn), _), r) ->
        r = if state.closed then Error Work_queue.Closed else Ok (not is_full)
    | (Try_take | Poll_take), Res ((Result (Option Int, Exn), _), r) ->
        r
        =
        if state.closed && first = None then Error Work_queue.Closed
        else Ok first
    | Poll_next, Res ((Option Int, _), r) -> r = first
    | Withdraw v, Res ((Bool, _), r) -> r = List.mem v state.items
    | Drain, Res ((List Int, _), r) -> r = state.items
    | Length, Res ((Int, _), n) -> n = List.length state.items
    | Waiters, Res ((Int, _), n) -> n = 0
    | Close, Res ((Unit, _), ()) -> true
    | Is_closed, Res ((Bool, _), r) -> r = state.closed
    | _ -> false
end

module One = STM_sequential.Make (Spec)

(* Both domains withdraw the tickets of the first items. *)
module Shared = struct
  include Spec

  let first = [ 100; 101; 102 ]
  let init_state = { items = first; closed = false }

  let init_sut () =
    let t = Spec.init_sut () in
    List.iter
      (fun v -> ignore (added t v (Work_queue.try_add t.queue v) : bool))
      first;
    t

  (* The table of tickets isn't shared, so a new item is never withdrawn. *)
  let added _ _ ticket = Option.is_some ticket

  let arb_cmd _ =
    let open Gen in
    let others =
      List.map return
        [ Try_take; Poll_next; Poll_take; Drain; Length; Close; Is_closed ]
    in
    make ~print:show_cmd
      (weighted
         [
           (4, map (fun v -> Try_add v) (int_bound 9));
           (8, map (fun v -> Withdraw v) (oneof (List.map return first)));
           (6, oneof others);
         ])

  let run cmd t =
    match cmd with
    | Try_add v ->
        let add () = added t v (Work_queue.try_add t.queue v) in
        Res (result bool exn, protect add ())
    | _ -> run cmd t

  let precond _ _ = true
end

module Two = STM_domain.Make (Shared)

let tests =
  [
    One.agree_test ~count:(Race.often 300) ~name:"Work_queue, on one domain";
    Two.agree_test_par ~count:(Race.often 40) ~name:"Work_queue, on two domains";
  ]
