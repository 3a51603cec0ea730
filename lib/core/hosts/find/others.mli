(** Other code than the calling thread's, which could wake a task. *)

val may_wake : asleep:int -> bool
(** [true] if a timeout is pending, or there is another thread besides [asleep]
    threads that are known to wait themselves. It is [true] too if that is not
    known. *)

val handle_signals : unit -> bool
(** [true] if the program has a signal handler, which might wake a task. It is
    [true] too if that is not known. *)

(** {2 A program with nothing else} *)

val may_be_alone : unit -> bool
(** [false] once {!is_alone} has found company. One read. *)

val is_alone : unit -> bool
(** [true] if the program has no other thread than the calling one, no pending
    timeout, and no signal handler. Then nothing will ever resume a task that
    waits in this thread. It is [false] if that is not known, and for good once
    a second thread, a domain or a signal handler was there. The answer costs
    some microseconds at first, and later one read. *)
