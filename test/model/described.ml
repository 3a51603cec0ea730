(* Scenarios that follow from a structure's description. Up to three operations come first, and
   may have to wait. Then two or three processes perform operations and cancel tasks. Each
   outcome must be one that the description allows. Each that it allows if all operations are
   exact must occur.

   There are many thousand such scenarios, so a run draws some. In half of them, a task that
   waits may be served. In a quarter, two operations compete that need not wait. Those are left
   out in which no task is served and no order matters. *)

module Make (S : Structure_signature.STRUCTURE) : sig
  val some : ?at_rest:(S.t -> unit) -> int -> unit
  (** Checks so many of the scenarios, which the seed selects, or fewer if a
      check has failed. [at_rest] raises [Failure] if the structure's state is
      wrong after a scenario. *)
end = struct
  module Scenario = Structure_scenario.Make (S)
  open Scenario

  (* --- Which ---------------------------------------------------------------------- *)

  let random = Random.State.make [| Model.seed |]
  let one_in n = Random.State.int random n = 0

  (* Some operations are offered only for certain numbers, for example a multiple of 4. Those
     that are rare in long programs, such as to close, are drawn more often here. *)
  let operations n =
    let all = S.operations (20 lsl n) in
    if one_in 2 then all else List.sort_uniq compare all

  (* If [alone], no task ever waits. *)
  let rec arrival ~alone ~ways n =
    let operation = pick random (operations n) in
    let never_waits way = S.line operation = None || Structure_ways.tries way in
    let may_be way = List.mem way ways && ((not alone) || never_waits way) in
    let ways_of =
      match S.beside operation with
      | Inexact -> []
      | Exact_alone when not alone -> []
      | Exact | May_miss | Exact_alone ->
          List.filter may_be (Ways.all operation)
    in
    match ways_of with
    | [] -> arrival ~alone ~ways n
    | Calls :: _ when one_in 2 -> Arrive (n, Calls, operation)
    | ways -> Arrive (n, pick random ways, operation)

  let waiting_ways = Structure_ways.[ Calls; Syncs; Chooses ]
  let all_ways = Structure_ways.[ Calls; Tries; Syncs; Chooses; Polls ]
  let is_alone operation = S.beside operation = Exact_alone
  let some_are_exact_alone = List.exists is_alone (operations 0)

  (* Each of these steps waits, or changes the state. *)
  let rec befores n ~alone ~most ~attempts model =
    if n = most || attempts = 0 then []
    else
      let ways = if alone then all_ways else waiting_ways in
      let step = arrival ~alone ~ways n in
      let after = one_by_one model step in
      if after.state = model.state && after.waiters = model.waiters then
        befores n ~alone ~most ~attempts:(attempts - 1) model
      else step :: befores (n + 1) ~alone ~most ~attempts after

  let draw () =
    let alone = some_are_exact_alone && one_in 6 in
    let most = Random.State.int random 4 in
    let before = befores 0 ~alone ~most ~attempts:10 Run.initial in
    let next = ref (List.length before) in
    let arrive () =
      let step = arrival ~alone ~ways:all_ways !next in
      incr next;
      step
    in
    let rec comes_and_is_cancelled () =
      match arrival ~alone:false ~ways:waiting_ways !next with
      | Arrive (n, _, operation) as step when S.line operation <> None ->
          incr next;
          [ step; Cancel n ]
      | Arrive _ | Cancel _ -> comes_and_is_cancelled ()
    in
    let model = after_before { before; sides = [] } in
    let waiting = ref (List.filter (Run.waits model) (arrivals before)) in
    let cancel () =
      if !waiting = [] then comes_and_is_cancelled ()
      else begin
        let n = pick random !waiting in
        waiting := List.filter (( <> ) n) !waiting;
        [ Cancel n ]
      end
    in
    let a = arrive () in
    let others =
      match Random.State.int random 10 with
      | 0 | 1 | 2 -> [ [ arrive () ] ]
      | _ when alone -> [ [ arrive () ]; [ arrive () ] ]
      | 3 | 4 | 5 -> [ cancel () ]
      | 6 -> [ comes_and_is_cancelled () ]
      | 7 -> [ cancel (); cancel () ]
      | _ -> [ [ arrive () ]; cancel () ]
    in
    let first = if one_in 8 then [ a; arrive () ] else [ a ] in
    { before; sides = first :: others }

  let rec orders = function
    | [] -> [ [] ]
    | sides ->
        List.concat_map
          (fun side ->
            let others = List.filter (( != ) side) sides in
            List.map (fun order -> side :: order) (orders others))
          sides

  (* Whether a task that waits is served, if the sides come in one of their orders. *)
  let serves { before; sides } =
    let tasks = arrivals (before @ List.concat sides) in
    let served_by order =
      let step (model, served) step =
        let waited = List.filter (Run.waits model) tasks in
        let model = one_by_one model step in
        let is_served n =
          match List.assoc_opt n (Run.served model) with
          | Some result -> result <> Description.withdrawn
          | None -> false
        in
        (model, served || List.exists is_served waited)
      in
      let model = after_before { before; sides } in
      snd (List.fold_left step (model, false) (List.concat order))
    in
    List.exists served_by (orders sides)

  (* Whether two of the sides begin with operations that change the state, and need not wait.
     Structures often have code of their own for these. *)
  let competes { before; sides } =
    let model = after_before { before; sides } in
    let changes_at_once = function
      | (Arrive (n, _, _) as step) :: _ ->
          let after = one_by_one model step in
          (not (Run.waits after n))
          && (after.state <> model.state || after.waiters <> model.waiters)
      | Cancel _ :: _ | [] -> false
    in
    let at_once = List.filter changes_at_once sides in
    List.compare_length_with at_once 2 >= 0

  (* A task that was cancelled before it came, and then can't be served at once, has done
     nothing. *)
  let rec as_if_not_come scenario =
    let misses = function
      | [ Arrive (n, _, operation); Cancel _ ]
        when S.beside operation = May_miss ->
          Some n
      | _ -> None
    in
    let without n =
      let others side = not (List.mem (Cancel n) side) in
      let withdrawn ({ results; waiting } : ending) =
        ending ((n, Description.withdrawn) :: results) waiting
      in
      let scenario =
        { scenario with sides = List.filter others scenario.sides }
      in
      List.map withdrawn (possible scenario @ as_if_not_come scenario)
    in
    List.concat_map without (List.filter_map misses scenario.sides)

  (* --- One of them ------------------------------------------------------------------ *)

  (* Performs a step in the calling process, and notes its task. *)
  let perform actors = function
    | Arrive (n, _, _) -> Actor.run (List.assoc n actors)
    | Cancel n -> Model.cancel (List.assoc n actors).task

  let actor_of t = function
    | Arrive (n, way, operation) ->
        let work () = Ways.perform t way operation in
        Some (n, Actor.make (string_of_int n) work)
    | Cancel _ -> None

  let result (n, (actor : Actor.t)) =
    ( n,
      if actor.result = "cancelled" then Description.withdrawn else actor.result
    )

  (* A task can't cancel itself while it comes, so another process does. *)
  let processes sides =
    List.concat_map
      (fun side ->
        let is_cancel = function Cancel _ -> true | Arrive _ -> false in
        let cancels, arrivals = List.partition is_cancel side in
        List.filter (( <> ) []) [ arrivals; cancels ])
      sides

  let start ~at_rest ~looks:spins scenario () =
    Actor.spin_at_most spins;
    Actor.forget_seats ();
    Shuffle.most := max_int;
    let t = S.create () in
    let look = List.map (fun (n, way, op) -> Arrive (n, way, op)) looks in
    let actors steps = List.filter_map (actor_of t) steps in
    let all =
      actors (List.concat (scenario.before :: look :: scenario.sides))
    in
    List.iter
      (fun step ->
        perform all step;
        Model.drain Model.queues.(0))
      scenario.before;
    Shuffle.reset ();
    Shuffle.most := 6;
    let processes =
      List.map
        (fun steps () -> List.iter (perform all) steps)
        (processes scenario.sides)
    in
    let outcome () =
      let waiting = S.waiters t in
      at_rest t;
      List.iter
        (fun step ->
          perform all step;
          Model.drain Model.queues.(!Atomic.current))
        look;
      show_end (ending (List.map result all) waiting)
    in
    (processes, outcome)

  (* The tasks that a process resumes continue after its own steps, so not all orders occur if
     it has two. *)
  let check ~at_rest scenario possible =
    let has_two = function [ _; Arrive _ ] -> true | _ -> false in
    let exact =
      if List.exists has_two scenario.sides then []
      else Scenario.possible ~exact:true scenario
    in
    let draws = function
      | Arrive (_, (Chooses | Polls), _) -> true
      | Arrive _ | Cancel _ -> false
    in
    (* A choice draws an order each time it looks. *)
    let looks =
      if
        one_in 4
        && not
             (List.exists draws
                (List.concat (scenario.before :: scenario.sides)))
      then 1
      else 0
    in
    let spinning = if looks = 0 then "" else " (spinning)" in
    Model.check ~most:400
      (S.name ^ spinning ^ ": " ^ show scenario)
      ~expect:(List.map show_end exact)
      ~also:(List.map show_end possible)
      (start ~at_rest ~looks scenario);
    (* The scenarios after this one don't spin, and may draw as often as they like. *)
    Actor.spin_at_most 0;
    Shuffle.most := max_int

  let some ?(at_rest = ignore) n =
    let seen = Hashtbl.create n in
    let rec check_one ~wanted ~attempts =
      let again () = check_one ~wanted ~attempts:(attempts - 1) in
      let scenario = draw () in
      let name = show scenario in
      if Hashtbl.mem seen name || (attempts > 0 && not (wanted scenario)) then
        again ()
      else
        let possible = possible scenario @ as_if_not_come scenario in
        let has_one = List.compare_length_with possible 1 = 0 in
        if is_misuse possible || (has_one && not (serves scenario)) then
          again ()
        else begin
          Hashtbl.add seen name ();
          check ~at_rest scenario possible
        end
    in
    for _ = 1 to n do
      let wanted =
        if one_in 2 then serves
        else if one_in 2 then competes
        else Fun.const true
      in
      if not !Model.failed then check_one ~wanted ~attempts:100
    done
end
