(** Both sides of a structure in one choice, which must not meet itself. *)

val cases : Operation_scene.case list
