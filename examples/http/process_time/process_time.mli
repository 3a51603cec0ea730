(** The processor time of another process. *)

val seconds : int -> float option
(** [seconds pid] is what it took so far, of user and system together, where the
    system tells. *)
