(** Group [styles], which has threads in the seven styles of
    [concord-schedulers.styles], in the three programs of "Light Weight
    Concurrency in OCaml". *)

val group : Case.group
