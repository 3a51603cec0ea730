(** What the tests that race share. *)

val long : bool
(** [CONCORD_LONG=1]: run for minutes. *)

val seed : int
(** [CONCORD_SEED], or the time. *)

val often : int -> int
(** So many times, and ten times as many in a long run. *)

val random : int -> Random.State.t
(** The [n]th generator of this seed. *)

val drawn : ?turn:int -> 'a list -> 'a list
(** Every third of them, and at least one: another seed draws others, and so
    does another [turn], for programs that draw several times from one list. All
    in a long run. It prints the seed. *)

val watchdog : seconds:float -> unit
(** Exits with code 2 if the program has not ended by then: a wake-up was lost.
*)

val fail : ('a, unit, string, 'b) format4 -> 'a
(** Prints the message and the seed, and exits with code 1. *)
