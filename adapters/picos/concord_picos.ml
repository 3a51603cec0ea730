open Picos
module Promise = Concord.Promise

let name = Fibers.name
let using loop = Concord.Host_kit.using_plugin Fibers.plugin loop
let as_fiber = Guest.as_fiber

(* --- Promises ------------------------------------------------------------- *)

let resolve _ computation promise =
  match Computation.peek computation with
  | None -> ()
  | Some (Ok v) -> ignore (Promise.try_fill promise v : bool)
  | Some (Error (e, backtrace)) ->
      ignore (Promise.try_fail ~backtrace promise e : bool)

let[@alert "-handler"] of_computation computation =
  let promise = Promise.create () in
  let resolver = Trigger.from_action computation promise resolve in
  if not (Computation.try_attach computation resolver) then
    resolve resolver computation promise;
  promise

let to_computation promise =
  let computation = Computation.create () in
  Promise.on_resolve promise (fun _ ->
      Computation.capture computation Promise.await promise);
  computation
