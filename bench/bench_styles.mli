(** Group [styles]: threads in the seven styles of [concord-schedulers.styles],
    by the three programs of "Light Weight Concurrency in OCaml". *)

val group : Case.group
