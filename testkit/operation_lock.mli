(** Cases that find an operation that holds a lock while its task waits, or is
    resumed. *)

val cases : Operation_scene.case list
