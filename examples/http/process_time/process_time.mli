(** The processor time of another process. *)

val seconds : int -> float option
(** [seconds pid] is the user and system time of the process so far, if the
    system provides it. *)
