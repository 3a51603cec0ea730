(** Whether a cost grows with the number of things. *)

type t

val size : string -> int
(** The number at the end of the name of a case, [NAME-SIZE]. *)

val of_sizes : (int * float) list -> t
(** The costs of an operation with so many things, beginning with the smallest
    number. *)

val is_flat : t -> bool
(** Whether the cost is never more than three times that with the smallest
    number, or ten times for more things than a cache holds. *)

val text : t -> string
(** One line that says where the cost grows, and with which power of the number
    of things. *)
