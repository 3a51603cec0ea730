(* A model must not block its thread: a parked thread is modelled as a task. *)

type t = Domain_local_await.t

let create () = Domain_local_await.prepare_for_await ()
let await (t : t) = t.await ()
let release (t : t) = t.release ()
