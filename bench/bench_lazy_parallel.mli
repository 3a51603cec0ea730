(** A lazy value that one domain computes while another one waits for it. *)

val comparisons : Case.comparison list
