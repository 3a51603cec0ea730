(** Is there any code but the calling thread's? *)

val may_wake : asleep:int -> bool
(** Is there a timeout that is pending, or any other thread but [asleep] that
    are known to wait themselves? [true] where that is not known. *)

val handle_signals : unit -> bool
(** Has the program a signal handler, which might wake a task? [true] where that
    is not known. *)
