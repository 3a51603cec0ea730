(** Properties of patterns with [lazy p] in them. *)

open Ppxlib

val has_lazy : pattern -> bool
(** [true] if there is a [lazy p] in it. *)

exception Wrong of location * string
(** The compiler's message about a variable, and its location. *)

val variables : pattern list -> string loc list
(** The variables in the order in which they are written.

    - {b Raises} {!Wrong} if a variable is bound twice, or in one side of an
      or-pattern only. *)

val module_in : pattern -> location option
(** A module that the pattern binds. *)

val is_total : pattern -> bool
(** [true] if it matches each value, to the extent that the pattern itself
    shows. *)

val is_plain : pattern -> bool
(** [true] if it is a variable, or nothing. *)

val may_refine : pattern -> bool
(** [true] if it contains a constructor, which may be one of a GADT. *)

val ghosts : pattern -> pattern
(** The same pattern, without the compiler's warnings that its variables are
    unused. *)

val rename : (string -> string) -> pattern -> pattern
(** The same pattern with other variables. *)

val without_variables : pattern -> pattern
(** It matches the same values. *)

val merge : pattern -> pattern
(** [lazy p | lazy q] as [lazy (p | q)]. *)
