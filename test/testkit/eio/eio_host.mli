(** Fibers of Eio, with or without [concord-eio]. *)

module Make (_ : sig
  val linked : bool
  (** Is [concord-eio] linked? *)
end) : Concord_testkit.Host.HOST
