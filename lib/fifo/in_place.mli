(** Atomics that are the first field of a block, and no blocks of their own. *)

type 'a outcome
(** Of a field that is an ['a Decision.t]. *)

type promise
(** Of a field that is a [unit Promise.t]. *)

val undecided : unit -> 'a outcome
val unresolved : unit -> promise

external first : 'block -> 'atomic = "%identity"
(** The first field of the block. The caller gives its type. *)
