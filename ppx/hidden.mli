(** Definitions that need others, which the user's code must not see. *)

open Ppxlib

type visible = {
  binding : value_binding;  (** It uses the hidden definitions. *)
  used : bool;
      (** [true] if the hidden definitions define and use the same variable, so
          that the compiler must not report it as unused. *)
}

type t = {
  hidden : (rec_flag * value_binding list) list;  (** One after the other. *)
  visible : visible list;
}

val in_expression : loc:location -> t -> expression -> expression
(** As the [let] before an expression. *)

val in_structure : loc:location -> t -> structure
(** As a [let] of a structure. *)

val about_names : attributes -> attributes
(** The attributes of a definition that a part of it has to have, too, for
    warnings, alerts and documentation. *)

val visible : used:bool -> attributes -> string loc -> expression -> visible
(** [let x = e], with those of the attributes of the user's definition. *)
