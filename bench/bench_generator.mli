(** Generators compared with plain iteration, as on the slides of "Retrofitting
    Effect Handlers onto OCaml". *)

val group : Case.group
