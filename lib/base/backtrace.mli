(** Where exceptions were raised. *)

val get : unit -> Printexc.raw_backtrace
(** {!Printexc.get_raw_backtrace}, for where many tasks are cancelled: that one
    takes 15 ns even if nothing is recorded, this one 2. *)
