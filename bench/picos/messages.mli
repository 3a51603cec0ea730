(** What messages go through: boxes, bounded queues, streams. *)

type 'a box
(** Picos has no box for one value. This is the simplest that its structures
    make: a field between two binary semaphores, of which one says that it is
    empty and one that it is full. *)

val box : 'a -> 'a box
(** An empty box. The value is only there to be in the field. *)

val put : 'a box -> 'a -> unit
val take : 'a box -> 'a

(** {2 Rows} *)

val of_mvar : Concord_bench.Case.row list
val of_structures : Concord_bench.Case.row list
