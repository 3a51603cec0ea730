(** Choices among events in monadic style: once, and again and again. *)

module Make (Style : Queues.Style) : sig
  (** See {!Style.S}. *)

  val select : 'a Event.t list -> 'a Style.t
  val sync_before : float -> 'a Event.t -> 'a option Style.t

  val loop : 'a Event.t list -> ('a -> 'b option Style.t) -> 'b Style.t
  (** The function may wait. *)
end
