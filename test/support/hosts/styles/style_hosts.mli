(** The styles of [concord-schedulers.styles]. In an indirect style, a task is a
    thread that runs a function in direct style. *)

val threads : Test_host.t
val callcc : Test_host.t
val delimited : Test_host.t

val all : Test_host.t list
(** The three above, and the indirect styles. *)
