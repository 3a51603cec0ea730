(** The program. *)
