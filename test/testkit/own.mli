(** The hosts of the packages [concord] and [concord-schedulers], for the suite,
    and how tests run it. *)

open Concord_testkit.Host

val fifo : (module HOST)
val lazy_fifo : (module HOST)
val threads : (module HOST)
val main_thread : (module HOST)
val domains : (module HOST)
val workers : (module HOST)

val blocks : string * string
(** Declares that [run] blocks the thread of the task that calls it. *)

val locks : string * string
(** Declares that a resumer takes a lock. *)

val no_backtraces : string * string
(** Declares that the exception of a block loses its backtrace. *)

val styles : (module HOST) list
(** Threads of [concord-schedulers.styles]. *)

val policies : (module HOST) list
(** Tasks of [concord-schedulers.policies]. *)

(** [Within (Outer) (Inner)] is the inner host, but its loop runs in a task of
    the outer one. *)
module Within (_ : HOST) (_ : HOST) : HOST

(** A host in a spawned domain. *)
module In_domain (_ : HOST) : HOST

val test :
  ?only:string list * (module HOST) list ->
  ?in_table:(module HOST) list ->
  (module HOST) list ->
  unit
(** Runs the suite on each host. With [only], it also runs the checks of these
    clauses on the hosts beside them. Of both lists, only the hosts that the
    seed draws are checked ({!Concord_test_support.Race.drawn}). Those
    [in_table] are checked in each run by [table], for [doc/hosts.mld], so that
    this checks them in a long run only. It prints what a host doesn't offer. If
    a clause is broken, it prints the report, and the exit code is 1. Call it
    only once. *)
