(** What never makes a sender wait: mailboxes and broadcasts. *)

val comparisons : Case.comparison list
