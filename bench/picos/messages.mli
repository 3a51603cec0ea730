(** Boxes, bounded queues and streams. *)

type 'a box
(** Picos has no box for one value. This is the simplest one that its structures
    can make. It is a field between two binary semaphores, one of which tells
    that it is empty, and the other that it is full. *)

val box : 'a -> 'a box
(** An empty box. The value only fills the field, and is never taken. *)

val put : 'a box -> 'a -> unit
val take : 'a box -> 'a

(** {2 Rows} *)

val of_mvar : Concord_bench.Case.row list
val of_structures : Concord_bench.Case.row list
