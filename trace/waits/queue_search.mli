(** Is a waiter in the queue of a structure? *)

type t

val create : Heap.t -> Layout.t -> t

val is_live : t -> int -> bool
(** The waiter isn't withdrawn. *)

val is_waiter : t -> int -> bool
(** The value has the shape of a waiter. *)

val has : t -> structure:int -> waiter:int -> bool
(** [has t ~structure ~waiter] is [true] if the waiter can be reached from the
    structure, not through functions. A search of the structure continues where
    the last one ended, so that many waiters are found in one search. *)
