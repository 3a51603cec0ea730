open Concord_test_support
open Operations
module Operation = Concord_testkit.Operation

(* A lock or a permit has no number to pass. *)
let service (operation : int Operations.t) : Operation.service =
  match operation.service with
  | Takes when (operation.make 1).wake () = 0 -> Signals
  | Takes -> Takes
  | Gives -> Gives
  | Shares -> Shares
  | Passes -> Passes
  | Meets -> Meets

let operation (operation : int Operations.t) : (module Operation.OPERATION) =
  (module struct
    type t = int place

    let sample = operation.make 1
    let name = operation.name
    let service = service operation
    let create = operation.make
    let wait place = place.wait
    let release place = place.release
    let keeps = operation.remembers
    let in_order = true
    let interruptible = true
    let repeats = operation.repeats
    let waiters = Some (fun place -> place.waiters ())
    let offered field f = Option.map (fun _ -> f) field
    let event = offered sample.event (fun place -> Option.get place.event)

    (* [Two_sides] of test/testkit/operation defines it. *)
    let release_event = None

    let close =
      let close place = snd (Option.get place.ends) () in
      Option.map (fun (exn, _) -> (exn, close)) sample.ends

    let fail = offered sample.fails (fun place -> Option.get place.fails)
  end)

let cases described = Operation.cases (operation described)
