(** What patterns with [lazy p] in them look like. *)

open Ppxlib

val has_lazy : pattern -> bool
(** Is there a [lazy p] in it? *)

exception Wrong of location * string
(** What the compiler says of a variable, and where. *)

val variables : pattern list -> string loc list
(** In the order in which they are written.

    @raise Wrong
      if a variable is bound twice, or in one side of an or-pattern only. *)

val module_in : pattern -> location option
(** A module that the pattern binds. *)

val is_total : pattern -> bool
(** Does it match each value, as far as the pattern itself tells? *)

val is_plain : pattern -> bool
(** Is it a variable, or nothing? *)

val may_refine : pattern -> bool
(** Does it contain a constructor, which may be one of a GADT? *)

val ghosts : pattern -> pattern
(** The same pattern, of whose variables the compiler does not say that they are
    unused. *)

val rename : (string -> string) -> pattern -> pattern
(** The same pattern with other variables. *)

val without_variables : pattern -> pattern
(** It matches the same values. *)

val merge : pattern -> pattern
(** [lazy p | lazy q] as [lazy (p | q)]. *)
