(** Blocks of transactions, each with the hash of the one before.

    Computing a hash takes microseconds, and finding a block takes thousands of
    hashes or millions. So these functions are called in a pool of domains. *)

type t = private {
  height : int;  (** The number of blocks before. *)
  parent : string;  (** The hash of the block before. *)
  transactions : string list;
  nonce : int;  (** Chosen such that the hash is a small number. *)
  hash : string;  (** In hexadecimal, of all the others. *)
}

exception Invalid of string
(** The block or transaction breaks a rule that all nodes know. *)

val genesis : t
(** The first block of every chain, with height 0. *)

val max_transactions : int
(** In one block. *)

val check_transaction : string -> unit
(** @raise Invalid if it is empty, or longer than 1000 bytes. *)

val check : difficulty:int -> t -> unit
(** Checks what can be checked without knowing other blocks.

    @raise Invalid
      unless the hash begins with [difficulty] zeros (but that of {!genesis})
      and the transactions are valid. *)

val search :
  continue:(unit -> unit) -> difficulty:int -> parent:t -> string list -> t
(** [search ~continue ~difficulty ~parent transactions] is a valid block after
    [parent]. It tries nonces one by one, from a random one on, and calls
    [continue] once in 256 tries. To give up the search, [continue] raises.
    Takes [16 ^ difficulty] tries on average. *)

val write : Buffer.t -> t -> unit
val read : Codec.input -> t
