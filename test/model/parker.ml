(* A model must not block its thread, so a parked thread is modelled as a task. *)

type t = Domain_local_await.t

exception Interrupted

(* A signal handler raises in the next thread that continues. *)
let interrupt = ref false
let create () = Domain_local_await.prepare_for_await ()

let await (t : t) =
  t.await ();
  if !interrupt then begin
    interrupt := false;
    raise Interrupted
  end

let release (t : t) = t.release ()
