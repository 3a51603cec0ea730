(** Cases in which another thread runs between two steps of an operation.

    OCaml runs signal handlers wherever code allocates or polls. So a handler
    can stop an operation at each of these moments in turn, let another thread
    do something there, and let the operation continue. If a structure checks,
    and then acts on an outdated result, this is found without any luck. *)

val cases : Operation_scene.case list
