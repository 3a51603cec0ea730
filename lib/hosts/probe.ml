open Concord_suspend

type found = Suspended | Blocked | Unhandled
type passing = { passing : 'b. 'b Effect.t -> unit }

let at_once _ = Some ()

(* A trigger that was released does not perform its effect any more; so it is
   released when the effect is on its way. One that performs none, but blocks the
   thread, is released by a timeout. *)
let await_at_once trigger ~release =
  let performed = ref false in
  (release :=
     fun () ->
       performed := true;
       Park.release trigger);
  let forget_timeout =
    try Timer.after 0.01 (fun () -> Park.release trigger)
    with Unix.Unix_error _ | Sys_error _ -> ignore
  in
  Fun.protect ~finally:forget_timeout @@ fun () ->
  match trigger.await () with
  | () -> if !performed then Suspended else Blocked
  | exception Effect.Unhandled _ -> Unhandled

(* [f release], with all its effects seen to pass. *)
let observe { passing } f =
  let release = ref ignore in
  let effc (type b) (effect_ : b Effect.t) :
      ((b, _) Effect.Deep.continuation -> _) option =
    !release ();
    passing effect_;
    None
  in
  Effect.Deep.try_with f release { effc }

(* Where a scheduler may take every effect, no other one's may be performed. Outside
   of tasks the triggers of ours suspend the thread. *)
let is_inside trigger =
  let reached =
    if Plugin.may_be_taken () then Suspended
    else if Trigger.is_handler trigger then
      match Effect.perform (Suspend at_once) with
      | () -> Suspended
      | exception Effect.Unhandled (Suspend _) -> Unhandled
    else
      observe { passing = ignore } (fun release ->
          await_at_once trigger ~release)
  in
  match reached with Suspended | Blocked -> true | Unhandled -> false
