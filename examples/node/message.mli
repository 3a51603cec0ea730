(** What nodes say to each other. *)

type t =
  | Block of Block.t  (** The head of the sender, or the answer to [Wanted]. *)
  | Wanted of string  (** Please send the block with this hash. *)
  | Transaction of string  (** It waits to be confirmed. *)

val write : Buffer.t -> t -> unit
val read : Codec.input -> t
