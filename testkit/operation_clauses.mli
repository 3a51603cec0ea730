(** The promises of a structure, one by one, in exact orders. *)

type clause = { name : string; about : string; cases : Trial.case list }

val all : (module Operation_signature.OPERATION) -> clause list
