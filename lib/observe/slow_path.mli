(** Why suspensions take the slow path, which looks at each of these reasons.

    The reasons come and go independently of each other. This module has the
    only record of them, so that each suspension reads a single word.

    None of these functions suspends. All are safe from any domain and thread.
*)

type reason = private int
(** A bit of {!reasons}. *)

val leaks : reason
(** The program looks for leaks. *)

val waits : reason
(** Waits are kept. *)

val trace : reason
(** The program is traced. *)

val takers : reason
(** There is a scheduler that takes every effect. *)

val all : (string * reason) list
(** All of them, with their names. *)

val add : reason -> unit
val remove : reason -> unit

val reasons : int Atomic.t
(** The reasons that there are. {!Waits} and {!Tracing} read it themselves,
    because they have to be unbroken, and a function that ends in a call begins
    with a polling point. *)

val has : reason -> bool
(** {b Cost}: one read. *)

val is_taken : unit -> bool
(** [true] if there is a reason. {b Cost}: one read. *)
