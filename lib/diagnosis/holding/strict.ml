let is_on = Debugging.has "strict"
let () = if is_on then Observer.(start strict)

(* The wait in seconds. A host that refuses to wait does so before the timers' thread resumes
   the task. If the caller's thread is delayed just at that moment, this lock isn't refused,
   but the next one is. *)
let moment = 20e-6

let for_a_moment resumer =
  let resume () = ignore (resumer (Ok ()) : bool) in
  ignore (Timer.after moment resume : unit -> unit);
  None

(* Each request has a new closure, as in [Asking]. *)
let at_once (_ : unit ref) _ = Some ()

(* A host that handles the effect can suspend the caller, so nothing has to wait. The same holds
   for a thread. A host that is reached in another way may run code that can't wait. It finds
   that out only when the caller has to. *)
let wait =
  {
    Request.by_effect =
      (fun () ~otherwise -> Request.suspend_or (at_once (ref ())) ~otherwise);
    by_plugin = (fun plugin () -> plugin.suspend for_a_moment);
    by_trigger = (fun trigger () -> Park.suspend trigger for_a_moment);
    by_thread = ignore;
  }

(* A task that is cancelled may still take what is free, for example in its clean-up. So its
   cancellation isn't raised here. *)
let before_lock () = if is_on then Reach.protect (fun () -> Request.ask wait ())
