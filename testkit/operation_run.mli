(** Runs the cases of a clause, which may hang. *)

val text : exn -> string
(** What a case that raised this exception has seen. *)

val verdict : seconds:float -> Trial.case list -> Report.verdict
(** As {!Trial.run}; but where OCaml has no fork, as there is or was a second
    domain, or as the system is Windows, in a thread of this process. Such a
    thread cannot be ended if it hangs. *)
