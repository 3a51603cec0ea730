(** A value of each process: a child process makes its own, because it has none
    of the parent's other threads. *)

type 'a t

val create : (unit -> 'a) -> 'a t
(** [create make]: [make] is called by the first {!get} of a process, and what
    threads that are in it at once make besides is dropped. *)

val get : 'a t -> 'a
(** The same for all threads of a process. *)
