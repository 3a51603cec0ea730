(** The report that a program writes on SIGQUIT. *)

val waits : string -> string list
(** [waits text] is the waits in the last whole report of [text], as {!Shown}
    has them, in order. A wait is there once for each task. Tasks that were
    woken don't wait any more. *)
