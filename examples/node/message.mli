(** The messages between nodes. *)

type t =
  | Block of Block.t  (** The head of the sender, or the answer to [Wanted]. *)
  | Wanted of string  (** Requests the block with this hash. *)
  | Transaction of string  (** The transaction is pending. *)

val write : Buffer.t -> t -> unit
val read : Codec.input -> t
