(** What a signal handler raised in a thread, but too late.

    What a handler raises in a thread that waits is to the thread what its
    host's cancellation is to another task. It comes too late where the thread
    was resumed, where an operation has been performed, or where the thread is
    in {!protect}. Then it is kept, and the thread's next wait raises it. *)

val keep : exn -> Printexc.raw_backtrace -> unit
(** The next wait of the calling thread outside of {!protect} raises the
    exception, unless {!raise_kept} does. *)

val raise_kept : unit -> unit
(** Raises what is kept for the calling thread, outside of {!protect}. *)

val protect : (unit -> 'a) -> 'a
(** [protect f] is [f ()], in which what a signal handler raises does not end a
    wait of the calling thread. The next wait after [protect] raises the
    exception. *)

val is_protected : unit -> bool
(** Is the calling thread in {!protect}? *)
