(** A value of each process. A child process makes its own, because it has none
    of the parent's other threads. *)

type 'a t

val create : (unit -> 'a) -> 'a t
(** [create make] is such a value. The first {!get} of a process calls [make].
    If several threads call it at once, the other values are dropped. *)

val get : 'a t -> 'a
(** The same for all threads of a process. *)
