(* A model checks what programs run: mostly none are kept. *)

type holder = {
  by : Who.t;
  since_ns : int64;
  held_at : Stdlib.Printexc.raw_backtrace;
}

type place = { operation : string; structure : Identity.pointer }

let kept = ref false
let are_kept () = !kept
let held by = { by; since_ns = 0L; held_at = Printexc.get_callstack 0 }
