(** [lazy e] in [let rec]. *)

open Ppxlib

type knot
(** One [lazy e] that stands where a call must not stand. *)

val knots_of : value_binding list -> value_binding list * knot list
(** The bindings, with variables in the place of the [lazy e]. *)

val knot_binding : knot -> value_binding
(** To go before the bindings. *)

val tie_binding : knot -> value_binding
(** To go after the bindings. *)

val rec_flag : value_binding list -> rec_flag
(** Do they still need [rec]? The compiler says where it is not needed. *)

val mentions : string list -> expression -> bool
(** Does the expression mention one of the variables? Yes, if it contains an
    extension. *)
