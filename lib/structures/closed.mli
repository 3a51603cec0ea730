(** The end of a structure that can be closed. *)

exception Closed
(** What {!Channel}, {!Stream}, {!Mailbox} and {!Broadcast} raise, under their
    own names, after [close]. *)

val outcome : ('a, exn) result
(** What tasks that wait are resumed with: [Error Closed]. *)
