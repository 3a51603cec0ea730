(** Random numbers, for choices that should prefer no alternative. *)

val fraction : unit -> int
(** [fraction ()] is a random fraction from 0 to 1, in units of 2{^ -31}. Don't
    use it for secrets. It doesn't change the state of Stdlib's [Random], and
    suspends nothing. *)

val below : int -> int -> int
(** [below n fraction] is a random number from 0 to [n - 1]. [n] has to be
    positive and less than 2{^ 31}. *)

val rest : int -> int -> int
(** [rest n fraction] is the part of [fraction] that [below n fraction] doesn't
    use, as a fraction for the next number. It has [n] times fewer values. *)
