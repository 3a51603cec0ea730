(** How long it takes until a task that waited goes on, and how long the others
    of its loop wait for their turns: medians, and the worst of many. *)

val group : Case.group
