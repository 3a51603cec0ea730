(** Calls that block a thread, from tasks of each host, beside what Eio and Lwt
    have for them. *)

val group : Case.group
