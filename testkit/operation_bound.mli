(** Cases for tasks that wait to give, and a bound that does not change. *)

val cases : Operation_scene.case list
