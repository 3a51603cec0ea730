(** The hosts of the packages [concord] and [concord-schedulers], for the suite;
    and how tests run it. *)

open Concord_testkit.Host

val fifo : (module HOST)
val lazy_fifo : (module HOST)
val threads : (module HOST)
val main_thread : (module HOST)
val domains : (module HOST)

val styles : (module HOST) list
(** Threads of [concord-schedulers.styles]. *)

val policies : (module HOST) list
(** Tasks of [concord-schedulers.policies]. *)

(** [Within (Outer) (Inner)] is the inner one, whose loop runs in a task of the
    outer one. *)
module Within (_ : HOST) (_ : HOST) : HOST

(** A host, in a domain that was spawned. *)
module In_domain (_ : HOST) : HOST

val test : ?only:string list * (module HOST) list -> (module HOST) list -> unit
(** Runs the suite on each host; and before, the checks of these clauses on
    those beside them: on those of both that the seed draws
    ({!Concord_test_support.Race.drawn}). Prints what a host does not offer, and
    the report if a clause is broken; then the exit code is 1. To be called
    once. *)
