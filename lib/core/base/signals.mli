(** Threads that choose where signal handlers run.

    A handler may raise at the very start of a thread, or after its work is
    done. Without this module, the thread would end before it has reported its
    result. *)

type mask
(** The set of signals that a thread blocks. *)

val while_blocked : (mask -> 'a) -> 'a
(** [while_blocked f] calls [f mask] while the calling thread blocks all
    signals. Each thread and domain that [f] starts blocks them too, until it
    calls {!under}. [mask] is the caller's former set of signals, which it
    blocks again afterwards. The handlers of signals that came meanwhile run
    then, and may raise. *)

val under : mask -> (unit -> 'a) -> 'a
(** [under mask f] calls [f ()] while the thread blocks only the signals of
    [mask]. Call it in a thread that blocks all signals. When [f] returns or
    raises, the thread blocks all signals again. A handler may raise in [f],
    just before it and just after it. *)

val set : mask -> unit
(** [set mask] makes the calling thread block the signals of [mask] from now on.
    A handler may raise just after. *)
