(** Fibers of Eio, with or without [concord-eio]. *)

module Make (_ : sig
  val linked : bool
  (** Whether [concord-eio] is linked. *)
end) : Concord_testkit.Host.HOST
