(** Figure 10 of "Effectively Composing Concurrency Libraries". Many producers
    on one domain and many consumers on another use one box. Some of them are
    cancelled while the others do all of the work. *)

val group : Case.group
