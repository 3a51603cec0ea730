(** What patterns with [lazy p] in them look like. *)

open Ppxlib

val has_lazy : pattern -> bool
(** Is there a [lazy p] in it? *)

val variables : pattern -> string loc list
(** In the order in which they are written. *)

val module_in : pattern -> location option
(** A module that the pattern binds. *)

val is_total : pattern -> bool
(** Does it match each value, as far as the pattern itself tells? *)

val ghosts : pattern -> pattern
(** The same pattern, of whose variables the compiler does not say that they are
    unused. *)

val alternatives : pattern -> pattern list
(** The same pattern without alternatives above a [lazy p], in the order in
    which they are tried. *)

val has_alternatives : pattern -> bool
