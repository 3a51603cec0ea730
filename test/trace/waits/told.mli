(** The report that a program writes on SIGQUIT. *)

val targets : string -> string list
(** [targets text] is the operations and names in which tasks wait, in the last
    whole report of [text], in order. An operation is there once for each task.
    Tasks that were woken don't wait any more. *)
