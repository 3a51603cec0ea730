(** Tasks of a Domainslib pool, which {!run} makes. *)

module Make (_ : sig
  val num_domains : int
  (** In addition to the domain that calls [run]. *)
end) : Concord_testkit.Host.HOST
