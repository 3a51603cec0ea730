(** The tables of README.md, bench/RESULTS.md and bench/ROWS.md. *)

val all : (string * (Results.t -> string)) list
(** By their names. *)

val charts : Results.t -> Chart.t list
(** Those of the documents. *)

val measured : string -> Results.comparison -> string
(** A comparison of that group: its title, its rows, and what grows. *)
