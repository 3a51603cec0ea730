(** Threads in which signal handlers run only where they may.

    A handler that raises at the very start of a thread, or after what the
    thread was started for, would end it before it has done its duty. *)

type mask
(** The signals that a thread blocks. *)

val while_blocked : (mask -> 'a) -> 'a
(** [while_blocked f] is [f mask], in which the calling thread blocks all
    signals, and with it each thread and domain that [f] starts, until they call
    {!under}. [mask] is what the caller blocked before, and blocks again
    afterwards. The handlers of signals that came meanwhile run then, and may
    raise. *)

val under : mask -> (unit -> 'a) -> 'a
(** [under mask f], in a thread that blocks all signals, is [f ()], in which it
    blocks those of [mask]. When it returns or raises, all are blocked again. A
    handler may raise in [f], just before and just after it. *)

val set : mask -> unit
(** From now on the calling thread blocks those of [mask]. A handler may raise
    just after. *)
