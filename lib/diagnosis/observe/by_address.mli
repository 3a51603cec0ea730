(** An index of items by the value that each of them belongs to, its owner.

    A traced wait looks up the name of its structure. Programs may give names to
    thousands of structures, so it must not search a list. *)

type 'a t

val create : ('a -> Identity.pointer) -> 'a t
(** [create owner] returns an index in which [owner item] points to the owner of
    [item]. *)

val find : 'a t -> 'a list -> Identity.pointer -> 'a list
(** [find t all pointer] is a list of items of [all], the newest first. All
    items that belong to the target of [pointer] are among them, and perhaps
    others. Call it with the same list as before, or with one that has more
    items in front of the same list. Otherwise the index is made again.

    It doesn't suspend, and is safe from any domain and thread.

    - {b Cost}: O(log n) amortised for [n] items. *)
