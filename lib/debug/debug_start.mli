(** The words of [CONCORD_DEBUG] that take effect when the program starts:
    [sigquit], [stall], and a warning for each unknown word. The other words are
    read where they matter, by {!Debugging}. *)

val link : unit -> unit
(** Does nothing. A linker leaves a module out of the program if no other module
    refers to it. Each wait goes through {!Operation} or {!Suspend}, so these
    two call [link]. Therefore a program that can wait obeys the variable, even
    if it names nothing of this folder. *)
