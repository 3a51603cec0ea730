(** The storage of a node: all blocks, and an index of the transactions.

    These are plain hash tables behind one {!Concord.Rwlock}, as those of a
    database would be. Fibers of Eio change them when blocks come. Meanwhile
    promises of Lwt and tasks of a pool query them. Nobody sees a chain that is
    half changed, and queries run beside each other.

    A transaction is {e confirmed} if it is in a block of the main chain, which
    is the longest one. (Of two that are as long, all nodes prefer the one whose
    last hash is smaller.) All others are {e pending}: those that were
    submitted, and those of blocks that are not in the main chain, or no longer.
    So no transaction is lost.

    Each function suspends only while it waits for the lock. *)

open Concord
module Transactions : Set.S with type elt = string

type t

val create : difficulty:int -> t
(** A chain of {!Block.genesis} alone. All nodes need the same [difficulty]. *)

val difficulty : t -> int

(** {2 Changing it} *)

val submit : t -> string -> unit
(** Makes a transaction pending, unless it is pending or confirmed already.

    @raise Block.Invalid as {!Block.check_transaction}. *)

type added =
  | Added
  | Known  (** It had been added before. *)
  | Orphan  (** The block before it is missing, and it was not added. *)

val add : t -> Block.t -> added
(** Adds a block that has passed {!Block.check}.

    @raise Block.Invalid
      if its height is wrong, or the chain before it has one of its transactions
      already. *)

(** {2 Following it} *)

val head : t -> Block.t Watch.t
(** The last block of the main chain. *)

val pending : t -> Transactions.t Watch.t

type work = {
  parent : Block.t;
  transactions : string list;
      (** Pending, and not in the chain that ends with [parent]. *)
  stale : unit Event.t;  (** The head is no longer [parent]. *)
  more : unit Event.t;  (** The set of pending transactions has changed. *)
}
(** What a miner should do next. *)

val work : t -> work

(** {2 Querying it} *)

val block : t -> string -> Block.t option
(** The block with this hash, also one that is not in the main chain. *)

val confirmed : t -> string -> Block.t option
(** The block of the main chain with this transaction. *)

val matching : t -> (string -> bool) -> string list
(** All confirmed transactions for which the function is [true], sorted. It
    holds the lock while it looks at each of them. *)
