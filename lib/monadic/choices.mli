(** Choices among events in monadic style, performed once or again and again. *)

module Make (Style : Queues.Style) : sig
  (** See {!Style.S}. *)

  val select : 'a Event.t list -> 'a Style.t
  val sync_before : float -> 'a Event.t -> 'a option Style.t

  val loop : 'a Event.t list -> ('a -> 'b option Style.t) -> 'b Style.t
  (** [loop events f] may wait in [f]. *)
end
