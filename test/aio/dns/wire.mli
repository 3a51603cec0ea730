(** Encodes messages as a server does, with compression. *)

val encode : Concord_dns__Message.t -> string
