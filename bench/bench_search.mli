(** A parallel depth-first search. When one searcher has found the answer, the
    others are cancelled. Sections 1 and 5 of "Effectively Composing Concurrency
    Libraries" use cancellation for this. *)

val group : Case.group
