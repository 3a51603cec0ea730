(* Scenarios that follow from a structure's description. Up to two operations come first, and
   may have to wait. Then one or two operations, and maybe a cancellation, happen at the same
   time. Each outcome must be one that the description allows. Each that it allows if all
   operations are exact must occur. *)

module Make (S : Structure_signature.STRUCTURE) : sig
  val some : int -> unit
  (** Checks so many of the scenarios, which the seed selects, or fewer if a
      check has failed. *)
end = struct
  module Scenario = Structure_scenario.Make (S)
  open Scenario

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

  let start scenario () =
    Actor.spin_at_most 0;
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
    let processes =
      List.map (fun side () -> List.iter (perform all) side) scenario.sides
    in
    let outcome () =
      let waiting = S.waiters t in
      List.iter
        (fun step ->
          perform all step;
          Model.drain Model.queues.(!Atomic.current))
        look;
      show_end (ending (List.map result all) waiting)
    in
    (processes, outcome)

  let check scenario possible =
    Model.check
      (S.name ^ ": " ^ show scenario)
      ~expect:(List.map show_end (Scenario.possible ~exact:true scenario))
      ~also:(List.map show_end possible)
      (start scenario)

  (* The operations of [S] as tasks with this number, in all ways. *)
  let arrivals ~ways n =
    List.concat_map
      (fun operation ->
        match S.beside operation with
        | Exact_alone | Inexact -> []
        | Exact | May_miss ->
            List.filter_map
              (fun way ->
                if List.mem way ways then Some (Arrive (n, way, operation))
                else None)
              (Ways.all operation))
      (List.sort_uniq compare (S.operations n))

  let product f xs ys = List.concat_map (fun x -> List.map (f x) ys) xs

  let scenarios () =
    let calls n = arrivals ~ways:[ Structure_ways.Calls ] n in
    let befores =
      [ [] ]
      @ List.map (fun a -> [ a ]) (calls 0)
      @ product (fun a b -> [ a; b ]) (calls 0) (calls 1)
    and sides =
      let each = arrivals ~ways:[ Calls; Tries ] in
      List.map (fun a -> [ [ a ] ]) (each 2)
      @ product (fun a b -> [ [ a ]; [ b ] ]) (each 2) (each 3)
    in
    let with_cancel before sides =
      let waits n = Run.waits (after_before { before; sides }) n in
      let cancels =
        List.filter_map
          (fun n -> if waits n then Some [ Cancel n ] else None)
          [ 0; 1 ]
      in
      { before; sides }
      :: List.map (fun cancel -> { before; sides = sides @ [ cancel ] }) cancels
    in
    List.concat (product with_cancel befores sides)

  let some n =
    let all = Array.of_list (scenarios ()) in
    let random = Random.State.make [| Model.seed |] in
    Model.say "%s: %d scenarios\n" S.name (Array.length all);
    let rec check_one () =
      let scenario = all.(Random.State.int random (Array.length all)) in
      let possible = possible scenario in
      if is_misuse possible then check_one () else check scenario possible
    in
    for _ = 1 to n do
      if not !Model.failed then check_one ()
    done
end
