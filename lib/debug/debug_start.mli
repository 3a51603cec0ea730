(** The words of [CONCORD_DEBUG] that take effect when the program starts:
    [sigquit], [stall], and a warning for each unknown word. The other words are
    read where they matter, by {!Debugging}. This module exports nothing. *)

val link : unit -> unit
(** {!Diagnosis.link}. *)
