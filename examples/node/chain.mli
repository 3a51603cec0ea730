(** The storage of a node: all blocks, and an index of the transactions.

    These are plain hash tables behind one {!Concord.Rwlock}, like the data of a
    small database. Fibers of Eio change them when blocks arrive. Meanwhile
    promises of Lwt and tasks of a pool query them. A query never sees a chain
    that is only half changed, and several queries run at the same time.

    A transaction is {e confirmed} if it is in a block of the main chain, which
    is the longest chain. (If two chains have the same length, all nodes prefer
    the one whose last hash is smaller.) All other transactions are {e pending}.
    They were submitted, or they are in blocks that are not, or no longer, in
    the main chain. So no transaction is lost.

    Each function suspends only while it waits for the lock. *)

open Concord
module Transactions : Set.S with type elt = string

type t

val create : difficulty:int -> t
(** A chain with only {!Block.genesis}. All nodes need the same [difficulty]. *)

val difficulty : t -> int

(** {2 Changing the chain} *)

val submit : t -> string -> unit
(** Makes a transaction pending, unless it is pending or confirmed already.

    @raise Block.Invalid like {!Block.check_transaction}. *)

type added =
  | Added
  | Known  (** The block had been added before. *)
  | Orphan  (** The previous block is missing, so the block was not added. *)

val add : t -> Block.t -> added
(** Adds a block that has passed {!Block.check}.

    @raise Block.Invalid
      if its height is wrong, or if one of its transactions is already in the
      chain before it. *)

(** {2 Following the chain} *)

val head : t -> Block.t Watch.t
(** The last block of the main chain. *)

val pending : t -> Transactions.t Watch.t

type work = {
  parent : Block.t;
  transactions : string list;
      (** The pending transactions that are not in the chain that ends with
          [parent]. *)
  stale : unit Event.t;  (** Is ready when the head is no longer [parent]. *)
  more : unit Event.t;
      (** Is ready when the set of pending transactions has changed. *)
}
(** The next work for a miner. *)

val work : t -> work

(** {2 Querying the chain} *)

val block : t -> string -> Block.t option
(** The block with this hash, even if it is not in the main chain. *)

val confirmed : t -> string -> Block.t option
(** The block of the main chain that has this transaction. *)

val matching : t -> (string -> bool) -> string list
(** All confirmed transactions for which the function returns [true], sorted. It
    holds the lock while it calls the function. *)
