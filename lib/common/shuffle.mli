(** Random numbers, for choices in which no alternative may be preferred. *)

val below : int -> int
(** [below n] is a random number from 0 to [n - 1]; [n] is positive, and less
    than 2{^ 31}. Not for secrets. It does not touch the state of Stdlib's
    [Random], and suspends nothing. *)
