(** Numbers as clients write them. *)

val of_digits : string -> int option
(** The number with these decimal digits, or [None] if the text has other
    characters. A number that is too large for an [int] gives [max_int]. *)
