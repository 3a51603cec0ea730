(** The promises of a structure, one by one, in exact orders. *)

type clause = { name : string; about : string; cases : Trial.case list }

val all : (module Operation_signature.OPERATION) -> clause list

val between : (module Operation_signature.OPERATION) -> clause
(** The one that is looked at if none of these is broken: what breaks them would
    break it, too. *)
