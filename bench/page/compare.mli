(** Compares two runs. *)

type t

val rows : Results.t -> Results.t -> t
(** Compares the rows that both have. *)

val is_empty : t -> bool
(** Whether there is no row that can be compared. *)

val has_regression : t -> bool
(** Whether a row became worse. *)

val print : names:string * string -> t -> string
