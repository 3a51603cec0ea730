(** The operations of the light styles that are not direct. Each calls a
    function when it has been performed.

    They are those of {!Concord.Tools.Monadic}, with a function in place of a
    promise. So each operation that waits in a structure is written once, there.
*)

module Make (Style : sig
  type data

  val style : data Group.style
end) : sig
  val put_mvar : 'a Concord.Mvar.t -> 'a -> (unit -> unit) -> unit
  val take_mvar : 'a Concord.Mvar.t -> ('a -> unit) -> unit
  val take_fifo : 'a Concord.Mailbox.t -> ('a -> unit) -> unit
  val sync : 'a Concord.Event.t -> ('a -> unit) -> unit
  val direct : (unit -> 'a) -> ('a -> unit) -> unit

  val start : (Style.data Group.t -> unit) -> unit
  (** {!Loop.start}. An operation in direct style that a thread calls, and that
      must wait, raises [Invalid_argument] instead. *)
end
