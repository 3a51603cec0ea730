(** A query to a database through caqti, whose SQLite driver runs each statement
    in a thread of [Lwt_preemptive]: from Lwt's own loop, and from fibers of Eio
    on another domain. *)

val group : Case.group
