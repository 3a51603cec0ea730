val of_status : Unix.process_status -> int
(** The exit code of a command that has run a program. It is that of the
    program, or 128 and the number of the signal that ended it. *)
