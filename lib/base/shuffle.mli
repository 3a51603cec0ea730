(** Random numbers, for choices in which no alternative may be preferred. *)

val fraction : unit -> int
(** A random fraction from 0 to 1, in units of 2{^ -31}. Not for secrets. It
    does not touch the state of Stdlib's [Random], and suspends nothing. *)

val below : int -> int -> int
(** [below n fraction] is a random number from 0 to [n - 1]; [n] is positive,
    and less than 2{^ 31}. *)

val rest : int -> int -> int
(** [rest n fraction] is what [below n fraction] does not tell: a fraction for
    the next number. It has [n] times fewer values. *)
