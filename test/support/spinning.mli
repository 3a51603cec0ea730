(** Which waits of a domain's tasks spin before they suspend.

    A task that another domain may resume spins for a moment, if that was worth
    it lately. So what a test sees could depend on what happened before, and on
    the load of the machine. Here it is chosen. *)

val next : bool -> unit
(** Whether the next wait of this domain's tasks spins. With one core none does.
    To be called outside of the tasks. *)

val each : (unit -> unit) -> unit -> unit
(** [each f ()] calls [f] once for each choice: in which of its first 7 turns a
    task of {!Hand} that waits spins. In the later turns, as in the seventh. *)
