(** The tables of bench/RESULTS.md, and those that [--print] prints. *)

val all : (string * (Results.t -> string)) list
(** All tables by their names. *)

val charts : Results.t -> Chart.t list
(** The charts of the documents. *)

val measured : string -> Results.comparison -> string
(** A comparison of that group, with its title, its rows and its growth. *)
