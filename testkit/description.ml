type ('state, 'operation) answer =
  | Waits
  | Returns of 'state * string
  | Continues of 'state * 'operation
  | Wakes_one of {
      line : int;
      result : string;
      accepted : 'operation -> ('state, 'operation) answer;
      nobody : ('state, 'operation) answer;
    }
  | Wakes_all of {
      lines : int list;
      result : string;
      next : ('state, 'operation) answer;
    }

type exactness = Exact | Exact_alone | May_miss | Inexact
type 'operation if_cancelled = Leaves | Performs of 'operation | Stays

let withdrawn = "withdrawn"
let not_permitted = "not permitted"
let often operations = List.concat (List.init 4 (Fun.const operations))

module type S = sig
  type state
  type operation

  val name : string
  val initial : state
  val operations : int -> operation list
  val line : operation -> int option

  val perform :
    waiting:operation list -> state -> operation -> (state, operation) answer

  val if_cancelled : operation -> operation if_cancelled
  val beside : operation -> exactness
  val show : operation -> string
  val looks : operation list
end

module Run (D : S) = struct
  (* What a task does when it runs again. *)
  type turn =
    | Ends of string
    | Unwinds of D.operation  (** It was cancelled in this one. *)
    | Goes_on of D.operation

  type waiter = { task : int; operation : D.operation }

  type t = {
    state : D.state;
    waiters : waiter list;  (** In the order of arrival. *)
    ready : (int * turn) list;  (** In the order in which they became ready. *)
    served : (int * string) list;
    moving : bool;
        (** A task has left its line since all were at rest. Another domain may
            not have finished with it. *)
  }

  let initial =
    { state = D.initial; waiters = []; ready = []; served = []; moving = false }

  let waiting t = List.length t.waiters
  let served t = t.served
  let find t task = List.find_opt (fun w -> w.task = task) t.waiters

  let refuses t task =
    match List.assoc_opt task t.ready with
    | Some (Unwinds _) -> true
    | Some (Ends _ | Goes_on _) | None -> false

  let waits t task =
    match find t task with
    | None -> false
    | Some w -> D.if_cancelled w.operation <> Stays && not (refuses t task)

  let is_in line w = D.line w.operation = Some line
  let first t line = List.find_opt (is_in line) t.waiters

  let leave t task =
    let waiters = List.filter (fun w -> w.task <> task) t.waiters in
    { t with waiters; moving = true }

  let finish t task result = { t with served = (task, result) :: t.served }
  let ready t task turn = { t with ready = t.ready @ [ (task, turn) ] }

  (* [w] leaves its line, and continues unless it refuses. *)
  let resume t turn w =
    let after = leave t w.task in
    if refuses t w.task then after else ready after w.task turn

  let operations waiters = List.map (fun w -> w.operation) waiters

  (* Serves the first task of a line, if it need not wait any longer. *)
  let serve_line t line =
    let w = Option.get (first t line) in
    let waiting = operations (leave t w.task).waiters in
    let becomes state turn =
      let state = if refuses t w.task then t.state else state in
      Some (resume { t with state } turn w)
    in
    match D.perform ~waiting t.state w.operation with
    | Returns (state, result) -> becomes state (Ends result)
    | Continues (state, operation) -> becomes state (Goes_on operation)
    | Waits | Wakes_one _ | Wakes_all _ -> None

  let rec serve t =
    let lines = List.filter_map (fun w -> D.line w.operation) t.waiters in
    let lines = List.sort_uniq Int.compare lines in
    match List.find_map (serve_line t) lines with
    | Some t -> serve t
    | None -> t

  let arrive t ~task ~tries operation =
    let waits t =
      if tries then finish t task "none"
      else { t with waiters = t.waiters @ [ { task; operation } ] }
    in
    let rec conclude t = function
      | Waits -> waits t
      | Returns (state, result) -> serve (finish { t with state } task result)
      | Continues (state, operation) ->
          serve (ready { t with state } task (Goes_on operation))
      | Wakes_one { line; result; accepted; nobody } as answer -> (
          match first t line with
          | None -> conclude t nobody
          | Some w ->
              conclude (resume t (Ends result) w)
                (if refuses t w.task then answer else accepted w.operation))
      | Wakes_all { lines; result; next } ->
          let is_in_one w = List.exists (fun line -> is_in line w) lines in
          let all = List.filter is_in_one t.waiters in
          conclude
            (List.fold_left (fun t w -> resume t (Ends result) w) t all)
            next
    in
    let line = D.line operation in
    let would_overtake () =
      line <> None && List.exists (fun w -> D.line w.operation = line) t.waiters
    in
    match D.perform ~waiting:(operations t.waiters) t.state operation with
    | (Returns _ | Continues _) when would_overtake () -> waits t
    | answer -> conclude t answer

  let refuse t task =
    match find t task with
    | Some w when waits t task -> ready t task (Unwinds w.operation)
    | Some _ | None -> t

  let unwind t task operation =
    let t = leave t task in
    match D.if_cancelled operation with
    | Performs next -> arrive (serve t) ~task ~tries:false next
    | Leaves | Stays -> serve (finish t task withdrawn)

  let turn t task =
    match List.assoc_opt task t.ready with
    | None -> t
    | Some turn -> (
        let t = { t with ready = List.remove_assoc task t.ready } in
        match turn with
        | Ends result -> finish t task result
        | Unwinds operation -> unwind t task operation
        | Goes_on operation -> arrive t ~task ~tries:false operation)

  let rec runs t task =
    if List.mem_assoc task t.ready then runs (turn t task) task else t

  let rec turns t =
    match t.ready with
    | [] -> { t with moving = false }
    | (task, _) :: _ -> turns (runs t task)

  type action =
    | Arrive of { task : int; tries : bool; operation : D.operation }
    | Refuse of int
    | Turn of int

  let may_follow ~exact t = function
    | Arrive { task; tries; operation } ->
        let after = arrive t ~task ~tries operation in
        let misses =
          tries
          && (t.waiters <> [] || t.moving)
          && D.beside operation = May_miss
        in
        if exact then [ runs after task ]
        else after :: (if misses then [ finish t task "none" ] else [])
    | Refuse task -> [ refuse t task ]
    | Turn task -> [ turn t task ]

  (* A task that ends changes nothing, so it doesn't matter when. *)
  let end_some t =
    List.fold_left
      (fun t (task, ready) ->
        match ready with Ends _ -> turn t task | Unwinds _ | Goes_on _ -> t)
      t t.ready

  (* Different orders often lead to the same state, from which this goes on once. *)
  let ends ~exact t sequences =
    let seen = Hashtbl.create 64 and ends = ref [] in
    let rec go t sequences =
      let t = end_some t in
      if not (Hashtbl.mem seen (t, sequences)) then begin
        Hashtbl.add seen (t, sequences) ();
        if List.for_all (( = ) []) sequences && t.ready = [] then
          ends := t :: !ends
        else begin
          let step i = function
            | [] -> ()
            | action :: rest ->
                let replace j other = if i = j then rest else other in
                let sequences = List.mapi replace sequences in
                List.iter (fun t -> go t sequences) (may_follow ~exact t action)
          in
          List.iteri step sequences;
          List.iter (fun (task, _) -> go (turn t task) sequences) t.ready
        end
      end
    in
    go t sequences;
    !ends
end
