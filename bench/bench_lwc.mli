(** Group [lwc]: Figures 10 to 18 of "Light Weight Concurrency in OCaml", points
    of curves over the size of the problem. *)

val group : Case.group
