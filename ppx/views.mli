(** Patterns [lazy p], as plain OCaml: the value is forced by
    [Concord.Lazy.force] when the match comes to it. *)

open Ppxlib

type pending
(** What is still to be matched, from left to right. *)

val split : pattern list -> pattern list * pending
(** The patterns, each of which is matched with a value of its own, from left to
    right, as far as nothing is forced. *)

val bind : pending -> expression -> expression
(** [bind pending e]: matches the rest, and is [e] then; else raises
    [Match_failure]. *)

val let_ : attributes -> pending -> expression -> expression
(** As {!bind}, in a [let] with these attributes. *)

val match_ : loc:location -> plain:bool -> expression -> case list -> expression
(** As [match e with cases]. [plain]: nothing else gives the [match] another
    meaning. *)

val function_ :
  loc:location ->
  plain:bool ->
  attributes ->
  case list ->
  [ `Cases of case list * attributes | `Match of expression -> expression ]
(** The cases of [function], or what they make of the argument. *)

val try_ : case list -> case list
