(** A warning for programs that don't link an adapter.

    If a library's scheduler doesn't handle the effect, and its adapter isn't
    linked, an operation that has to wait blocks the thread. Then the library's
    loop stops without a word. *)

val warn : unit -> unit
(** Call it before a thread is parked. If one of these libraries runs the caller
    in its loop, and its adapter isn't linked, a message on the standard error
    names the adapter. There is at most one message in a process, and none if
    [CONCORD_WARN=0].

    It reads the names of the functions that have called it, so it finds nothing
    in code that was compiled without [-g], and doesn't look in bytecode.
    Reading them takes some microseconds. So it does that once for each handler
    of effects. If there is no handler, it does so for the first 16 waits of the
    process, and then for wait number 32, 64 and so on. *)
