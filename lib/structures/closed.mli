(** The end of a structure that can be closed. *)

exception Closed
(** What {!Channel}, {!Stream}, {!Mailbox} and {!Broadcast} raise, under their
    own names, after [close]. *)

val by : 'structure -> unit
(** To be called before the structure raises {!Closed}. Its printer names the
    structure that raised it last in the calling thread, if that has a name or
    was made while waits are kept. *)

val outcome : ('a, exn) result
(** What tasks that wait are resumed with: [Error Closed]. *)
