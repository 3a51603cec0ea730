(** The smallest scheduler that does not handle [Suspend], like Eio. It
    registers itself with [Domain_local_await]. *)

val run : (unit -> unit) list -> unit
(** Runs the functions as tasks of a loop, on the calling thread, which it
    blocks while none is ready. *)
