(** Tasks of a Domainslib pool, which {!run} makes. *)

module Make (_ : sig
  val num_domains : int
  (** Beside the one that calls [run]. *)
end) : Concord_testkit.Host.HOST
