open Picos
module Promise = Concord.Promise

let using loop = Concord.Tools.Host_kit.using_plugin Fibers.plugin loop
let as_fiber = Guest.as_fiber

(* With this message Picos 0.6 refuses to run a scheduler, or to configure itself, outside
   of the main thread. It doesn't say what to call. *)
let not_configured = "must be called from the main thread on the main domain"

let () =
  Printexc.register_printer (function
    | Invalid_argument message when message = not_configured ->
        Some
          (Printf.sprintf
             "Invalid_argument(%S): Picos is not configured. Call \
              Picos_io_select.configure () in the main thread before other \
              threads or domains start"
             message)
    | _ -> None)

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
