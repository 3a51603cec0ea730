let is_on = Debugging.has "strict"

(* The wait in seconds. A host that refuses to wait does so before the timers' thread resumes
   the task. If the caller's thread is delayed just at that moment, this lock isn't refused,
   but the next one is. *)
let moment = 20e-6

let[@inline never] wait () =
  Reach.suspend_unlisted (fun resumer ->
      let resume () = ignore (resumer (Ok ()) : bool) in
      ignore (Timer.after moment resume : unit -> unit);
      None)

let before_lock () = if is_on then wait ()
