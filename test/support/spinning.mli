(** Chooses which waits of a domain's tasks spin before they suspend.

    A task that another domain may resume spins for a moment, if that was worth
    it recently. So the result of a test could depend on what happened before,
    and on the load of the machine. Here the test chooses it. *)

val next : bool -> unit
(** Whether the next wait of this domain's tasks spins. On one core, no wait
    does. Call it outside of all tasks. *)

val each : (unit -> unit) -> unit -> unit
(** [each f ()] calls [f] once for each choice. A choice says in which of its
    first 7 turns a waiting task of {!Hand} spins. Later turns are like the
    seventh. *)
