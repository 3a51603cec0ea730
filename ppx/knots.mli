(** [lazy e] in [let rec]. *)

open Ppxlib

val mentions : string list -> expression -> bool
(** [true] if the expression mentions one of the variables, or contains an
    extension. *)

val tie : value_binding list -> Hidden.t option
(** The bindings of a [let rec] without [lazy e] where the compiler allows no
    call. [None] if there is none. *)
