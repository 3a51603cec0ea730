(* Time stands still. *)
let deadline (_ : float) = max_int
let has_passed (_ : int) = false
let at (_ : int) (_ : unit -> unit) () = ()
let run_due () = ()
let seconds_until (_ : int) = 0.
