(** Figure 10 of "Effectively Composing Concurrency Libraries": producers on one
    domain, consumers on another, many tasks on one box, and a part of them
    cancelled while the rest does all of the work. *)

val group : Case.group
