(** Exceptions of signal handlers that come too late for a wait.

    If a signal handler raises in a waiting thread, the thread treats the
    exception as other tasks treat their host's cancellation. Sometimes it comes
    too late, because the thread was resumed, an operation was performed, or the
    thread is in {!protect}. In that case, the exception is kept, and the
    thread's next wait raises it. *)

val keep : exn -> Printexc.raw_backtrace -> unit
(** [keep e backtrace] makes the next wait of the calling thread outside
    {!protect} raise [e], unless {!raise_kept} does so before. An unbroken
    function must not end in this call. OCaml looks for signals at the beginning
    of a function that ends in a call of another module. *)

val raise_kept : unit -> unit
(** [raise_kept ()] raises the exception that was kept for the calling thread,
    if the thread is outside {!protect}. *)

val protect : (unit -> 'a) -> 'a
(** [protect f] calls [f ()]. Meanwhile, exceptions of signal handlers don't end
    a wait of the calling thread. The next wait after [protect] raises them. *)

val is_protected : unit -> bool
(** [is_protected ()] is [true] if the calling thread is in {!protect}. *)
