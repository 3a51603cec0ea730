(** Numbers as clients write them. *)

val of_digits : string -> int option
(** The number of these decimal digits, [None] if there is anything else among
    them. What is too large for an [int] is [max_int]. *)
