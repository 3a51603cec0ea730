(** Whether a cost grows with the number of what there is. *)

type t

val size : string -> int
(** That at the end of the name of a case, [NAME-SIZE]. *)

val of_sizes : (int * float) list -> t
(** Of what an operation costs among so many things, the fewest first. *)

val is_flat : t -> bool
(** It is nowhere more than three times as much as among the fewest, or ten
    times among more things than a cache holds. *)

val text : t -> string
(** In a line: where it grows, and by which power of their number. *)
