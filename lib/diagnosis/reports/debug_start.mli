(** The words of [CONCORD_DEBUG] that take effect when the program starts:
    [leaks], [sigquit], [sigusr2], [stall], [slow], and a warning for each
    unknown word. The other words are read where they matter, by {!Debugging}.
*)

val start : unit -> unit
(** Called once, by {!Diagnosis}. *)
