(** The promises of a structure, one by one, in exact orders. *)

type clause = { name : string; about : string; cases : Trial.case list }

val all : (module Operation_signature.OPERATION) -> clause list

val between : (module Operation_signature.OPERATION) -> clause
(** The clause that is tested if none of these is broken, because their faults
    would break it, too. *)
