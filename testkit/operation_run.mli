(** Runs the cases of a clause, which may hang. *)

val text : exn -> string
(** The text for a case that raised this exception. *)

val verdict : seconds:float -> Trial.case list -> Report.verdict
(** {!Trial.run}. However, if OCaml can't fork, because there is or was a second
    domain, or because the system is Windows, the cases run in a thread of this
    process. Such a thread cannot be ended if it hangs. *)
