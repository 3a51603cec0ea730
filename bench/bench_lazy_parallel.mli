(** Lazy values that tasks of two domains force. *)

val comparisons : Case.comparison list

(** The program of the case, with other lazy values. *)
module Chain (_ : sig
  type 'a t

  val from_fun : (unit -> 'a) -> 'a t
  val force : 'a t -> 'a
end) (_ : sig
  type t

  val create : unit -> t

  val send : t -> int -> unit
  (** Returns when the message has been received. *)

  val receive : t -> int
end) : sig
  val pass : Host.shape -> int -> float
end
