(** Lwt: two of its tasks, its domain and one of Eio, crowds that another domain
    wakes, jobs for another domain. *)

val group : Case.group
