(* Nobody observes tasks here. *)

let max_frames = 0
let are_observed () = false
let here () = Stdlib.Printexc.get_callstack 0
let run ~at:_ ~parent:_ ~ask:_ f = f ()
