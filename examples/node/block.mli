(** Blocks of transactions. Each block has the hash of the previous one.

    Computing a hash takes microseconds, and finding a block takes thousands or
    millions of hashes. So these functions are called in a pool of domains. *)

type t = private {
  height : int;  (** The number of earlier blocks. *)
  parent : string;  (** The hash of the previous block. *)
  transactions : string list;
  nonce : int;  (** Chosen so that the hash is a small number. *)
  hash : string;  (** The hash of all other fields, in hexadecimal. *)
}

exception Invalid of string
(** The block or transaction breaks a rule of all nodes. *)

val genesis : t
(** The first block of every chain, with height 0. *)

val max_transactions : int
(** The greatest number of transactions in a block. *)

val check_transaction : string -> unit
(** @raise Invalid if it is empty, or longer than 1000 bytes. *)

val check : difficulty:int -> t -> unit
(** Checks everything that can be checked without other blocks.

    @raise Invalid
      unless the hash begins with [difficulty] zeros (except the hash of
      {!genesis}) and the transactions are valid. *)

val search :
  continue:(unit -> unit) -> difficulty:int -> parent:t -> string list -> t
(** [search ~continue ~difficulty ~parent transactions] is a valid block after
    [parent]. It tries nonces one by one, beginning with a random one. It calls
    [continue] once in 256 tries, and [continue] raises to end the search. The
    search takes [16 ^ difficulty] tries on average. *)

val write : Buffer.t -> t -> unit
val read : Codec.input -> t
