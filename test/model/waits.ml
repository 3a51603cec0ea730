(* Most models record no waits, because they check what programs run without recording. *)

type holder = {
  by : Who.t;
  mutable since_ns : int;
  held_at : Stdlib.Printexc.raw_backtrace;
}

type target = unit

let target ?state:(_ : (_ -> string) option) ?from_outside:(_ : bool option)
    (_ : string) _ _ =
  ()

let kept = ref false
let are_kept () = !kept
let not_held_yet holder = holder.since_ns <- max_int
let is_held holder = holder.since_ns <> max_int
let held_from_now holder = holder.since_ns <- 0
let held by = { by; since_ns = 0; held_at = Printexc.get_callstack 0 }
