(** Definitions that need others, which the user's code must not see. *)

open Ppxlib

type visible = {
  binding : value_binding;  (** It uses what is hidden. *)
  used : bool;
      (** What is hidden defines and uses the same variable: so the compiler is
          not to report that it is unused. *)
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
(** Those attributes of a definition that a part of it has to have, too:
    warnings, alerts and documentation. *)

val visible : used:bool -> attributes -> string loc -> expression -> visible
(** [let x = e], with those of the attributes of the user's definition. *)
