(** Lwt: messages between two of its tasks, or between its domain and one of
    Eio, crowds that another domain wakes, and jobs for another domain. *)

val group : Case.group
