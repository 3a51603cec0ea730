let is_on = Debugging.has "strict"

(* A host that refuses does so before the timers' thread runs, unless the caller's thread is
   held up just there: then this lock is not refused, but the next one is. *)
let moment = 20e-6

let[@inline never] wait () =
  Reach.suspend_unlisted (fun resumer ->
      let resume () = ignore (resumer (Ok ()) : bool) in
      ignore (Timer.after moment resume : unit -> unit);
      None)

let before_lock () = if is_on then wait ()
