(** Addresses of values, for the diagnosis. *)

val numbers : Identity.pointer array -> int array
(** [numbers pointers] numbers the targets from 0 on. Pointers to the same
    target get the same number, and a collected target gets -1. It takes O(n)
    time and a minor collection. *)

val of_target : Identity.pointer -> int
(** [of_target pointer] is a number that the target has until a collection moves
    it. It is 0 if the target was collected. *)
