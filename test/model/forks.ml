(* Nobody observes tasks here. *)

let max_frames = 0
let are_observed () = false
let run (_ : Who.origin) ~ask:(_ : unit -> Who.t) f = f ()
