(** Messages as a server writes them, with compression. *)

val encode : Concord_dns__Message.t -> string
