(** Generators against plain iteration: the slides of "Retrofitting Effect
    Handlers onto OCaml". *)

val group : Case.group
