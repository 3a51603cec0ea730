(** Helpers for the tests that race. *)

val long : bool
(** True with [CONCORD_LONG=1]. The test then runs for minutes. *)

val seed : int
(** [CONCORD_SEED], or else a number from the time. *)

val often : int -> int
(** This number, or ten times as many in a long run. *)

val random : int -> Random.State.t
(** The [n]th generator of this seed. *)

val drawn : ?turn:int -> 'a list -> 'a list
(** Every third element, and at least one. Another seed draws others, and so
    does another [turn], which a program uses to draw several times from one
    list. A long run draws all. It prints the seed. *)

val watchdog : seconds:float -> unit
(** Exits with code 2 if the program hasn't ended by then, because a wake-up
    must have been lost. *)

val fail : ('a, unit, string, 'b) format4 -> 'a
(** Prints the message and the seed, and exits with code 1. *)
