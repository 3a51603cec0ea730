val of_status : Unix.process_status -> int
(** How a command ends that has run a program: as the program, or with 128 and
    the number of the signal that ended it. *)
