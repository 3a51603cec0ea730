(* A few operations and cancellations beside each other, and all ends that the description
   allows. *)

open Structure_signature
module Way = Structure_ways

module Make (S : STRUCTURE) = struct
  module Run = Description.Run (S)
  module Ways = Way.Make (S)

  type step = Arrive of int * Way.t * S.operation | Cancel of int

  type t = {
    before : step list;  (** One after the other. *)
    sides : step list list;  (** Each beside the others. *)
  }

  (* The result of each task, in the order of their numbers, and how many still wait. *)
  type ending = { results : (int * string) list; waiting : int }

  let show_step = function
    | Arrive (task, way, operation) ->
        Printf.sprintf "%d: %s%s" task (Way.name way) (S.show operation)
    | Cancel task -> Printf.sprintf "cancel %d" task

  let show_steps steps = String.concat "; " (List.map show_step steps)

  let show { before; sides } =
    Printf.sprintf "%s | %s" (show_steps before)
      (String.concat " | " (List.map show_steps sides))

  let show_end { results; waiting } =
    Printf.sprintf "%s, and %d wait"
      (String.concat ", "
         (List.map (fun (task, r) -> Printf.sprintf "%d: %s" task r) results))
      waiting

  let ending results waiting = { results = List.sort compare results; waiting }

  (* The operations that show the state at the end. Their tasks have negative numbers. *)
  let looks =
    let look i operation =
      let look way = (-1 - i, way, operation) in
      Option.map look (Ways.at_once operation)
    in
    List.filter_map Fun.id (List.mapi look S.looks)

  let arrivals steps =
    List.filter_map
      (function Arrive (task, _, _) -> Some task | Cancel _ -> None)
      steps

  let one_by_one model = function
    | Cancel task -> Run.turns (Run.refuse model task)
    | Arrive (task, way, operation) ->
        Run.turns (Run.arrive model ~task ~tries:(Way.tries way) operation)

  let actions = function
    | Arrive (task, way, operation) ->
        [ Run.Arrive { task; tries = Way.tries way; operation } ]
    | Cancel task -> [ Refuse task; Turn task ]

  let after_before { before; _ } = List.fold_left one_by_one Run.initial before

  (* A task that is being served may still be cancelled. Other operations may have come since
     then, so a cancellation may overtake the steps before it. *)
  let sequences ~exact { sides; _ } =
    let is_loose = function Cancel _ -> not exact | Arrive _ -> false in
    let split side =
      let overtakes, others = List.partition is_loose side in
      List.concat_map actions others :: List.map actions overtakes
    in
    List.concat_map split sides

  let possible ?(exact = false) scenario =
    let look = List.map (fun (task, way, op) -> Arrive (task, way, op)) looks in
    let tasks =
      arrivals (List.concat ((scenario.before :: scenario.sides) @ [ look ]))
    in
    let ending_of model =
      let waiting = Run.waiting model in
      let served = Run.served (List.fold_left one_by_one model look) in
      let result task =
        (task, Option.value ~default:"waits" (List.assoc_opt task served))
      in
      ending (List.map result tasks) waiting
    in
    Run.ends ~exact (after_before scenario) (sequences ~exact scenario)
    |> List.map ending_of |> List.sort_uniq compare

  (* Whether a task may do what isn't permitted. The looks may. *)
  let is_misuse endings =
    let is_refused (task, result) =
      task >= 0 && result = Description.not_permitted
    in
    List.exists (fun { results; _ } -> List.exists is_refused results) endings

  (* --- Which ----------------------------------------------------------------------- *)

  let pick random list =
    List.nth list (Random.State.int random (List.length list))

  (* What a task may do, in all ways. If [alone], no task may ever wait. *)
  let arrivals_of ~alone task =
    let is_tested operation =
      match S.beside operation with
      | Exact | May_miss -> true
      | Exact_alone -> alone
      | Inexact -> false
    and ways operation =
      let all = Ways.all operation in
      if alone && S.line operation <> None then List.filter Way.tries all
      else all
    in
    List.filter is_tested (S.operations task)
    |> List.map (fun operation -> (operation, ways operation))
    |> List.filter (fun (_, ways) -> ways <> [])

  let arrive random ~alone task =
    let operation, ways = pick random (arrivals_of ~alone task) in
    Arrive (task, pick random ways, operation)

  (* In half of the races no task waits, if there are operations that are tested only so. *)
  let is_alone random =
    let is_tested_so operation = S.beside operation = Exact_alone in
    arrivals_of ~alone:false 0 = []
    || (List.exists is_tested_so (S.operations 0) && Random.State.bool random)

  (* At most [before] steps, and then at most [each] steps on each of two sides. A side cancels
     only its own tasks, which are every second one. *)
  let random random ~before ~each =
    let int n = Random.State.int random (n + 1) in
    let alone = is_alone random in
    let arrive = arrive random ~alone in
    let before = List.init (int before) arrive in
    let waiting = Run.waits (after_before { before; sides = [] }) in
    let next = ref (List.length before - 1) in
    let side i =
      let is_mine n = n mod 2 = i && waiting n in
      let mine = List.filter is_mine (arrivals before) in
      let step _ =
        if mine <> [] && int 2 = 0 then Cancel (pick random mine)
        else begin
          incr next;
          arrive !next
        end
      in
      List.init (1 + int (each - 1)) step
    in
    let first = side 0 in
    { before; sides = [ first; side 1 ] }
end
