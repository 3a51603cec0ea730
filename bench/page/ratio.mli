(** How a ratio and its quartiles are judged and shown. *)

type t = float * float * float
(** The median is the second. *)

val exceeds_its_effect : t -> bool
(** Whether the quartiles lie farther apart than the median lies from 1. *)

val text : t -> string
(** As [2.00x better [1.90 2.10]], with a [~] if its spread exceeds its effect;
    without quartiles if one is not known. *)

val figure : float -> string
(** Three digits or so. *)
