exception Closed
(** What {!Channel}, {!Stream}, {!Mailbox} and {!Broadcast} raise, under their
    own names, after [close]. *)

val outcome : ('a, exn) result
(** With which those who wait are resumed. *)
