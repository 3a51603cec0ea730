(** [[%lazy e]], as an expression. *)

open Ppxlib

val ghost : Location.t -> Location.t
(** The same location, for code that the user has not written. *)

val delay : loc:Location.t -> expression -> expression
(** A lazy value that computes the expression when it is forced. *)

val make : loc:Location.t -> expression -> expression
(** {!delay}; but if the expression is a value, a lazy value that is forced
    already. *)

val error : loc:Location.t -> string -> expression
(** An expression that the compiler reports as an error, with that text. *)
