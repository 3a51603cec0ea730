(** The event of an operation, in a choice with another one. *)

val cases : (module Operation_signature.OPERATION) -> Trial.case list
