(** Group [lwc], which has Figures 10 to 18 of "Light Weight Concurrency in
    OCaml". They are curves over the size of the problem. *)

val group : Case.group
