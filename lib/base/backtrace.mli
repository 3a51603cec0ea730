(** A cheaper way to get the backtrace of an exception. *)

val get : unit -> Printexc.raw_backtrace
(** [get ()] is [Printexc.get_raw_backtrace ()]. Use it where many tasks are
    cancelled, because it takes 2 ns instead of 15 if nothing is recorded. *)
