exception Closed
(** What {!Channel}, {!Stream}, {!Mailbox} and {!Broadcast} raise, under their
    own names, after [close]. *)
