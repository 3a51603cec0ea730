(** System threads that share a lock or a queue, and hold it during something
    slow. They are compared with Stdlib's structures for threads. *)

val group : Case.group
