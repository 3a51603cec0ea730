(* The ways in which a task performs an operation. *)

open Concord
open Structure_signature

type t = Calls | Tries | Syncs | Chooses | Polls

let tries = function Tries | Polls -> true | Calls | Syncs | Chooses -> false

let name = function
  | Calls -> ""
  | Tries -> "try "
  | Syncs -> "sync "
  | Chooses -> "select "
  | Polls -> "poll "

module Make (S : STRUCTURE) = struct
  (* Unless the operation may wait, there is only one way. A form that doesn't wait can be asked
     only by performing it, which is done with a structure that nobody uses. *)
  let all operation =
    if S.line operation = None then [ Calls ]
    else
      let events =
        if S.event (S.create ()) operation = None then []
        else [ Tries; Syncs; Chooses; Polls ]
      in
      if events = [] && S.try_call (S.create ()) operation <> None then
        [ Calls; Tries ]
      else Calls :: events

  (* How an operation is performed that must not wait, if there is such a way. *)
  let at_once operation =
    List.find_opt
      (fun way -> S.line operation = None || tries way)
      (all operation)

  let event t operation = Option.get (S.event t operation)
  let or_none = Option.value ~default:"none"

  let perform t way operation =
    match way with
    | Calls -> S.call t operation
    | Syncs -> Event.sync (event t operation)
    | Chooses ->
        let other = Mvar.take_evt (Mvar.create_empty ()) in
        Event.select [ other; event t operation ]
    | Polls -> or_none (Event.poll (event t operation))
    | Tries -> (
        match S.try_call t operation with
        | Some result -> or_none result
        | None -> or_none (Event.poll (event t operation)))
end
