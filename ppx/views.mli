(** Patterns [lazy p], as plain OCaml. The value is forced by
    [Concord.Lazy.force] when the match comes to it. *)

open Ppxlib

type pending
(** The part that is still to be matched, from left to right. *)

val split : pattern list -> pattern list * pending
(** The patterns, each of which is matched with a value of its own, from left to
    right, up to the first forced value. A pattern may bind a variable again. *)

val bind : pending -> expression -> expression
(** [bind pending e] matches the rest, and then is [e]. Otherwise it raises
    [Match_failure]. *)

val bindings : attributes -> pending -> value_binding list
(** {!bind} by [let]s with these attributes, one after the other. *)

val match_ : loc:location -> plain:bool -> expression -> case list -> expression
(** The expression [match e with cases]. [plain] is [true] if nothing else gives
    the [match] another meaning. *)

val function_ :
  loc:location -> plain:bool -> case list -> case list * attributes
(** The cases of [function], and attributes to add to it. *)

val try_ : case list -> case list
