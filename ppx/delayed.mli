(** [[%lazy e]], as an expression. *)

open Ppxlib

val ghost : Location.t -> Location.t
(** The same location, for code that the user has not written. *)

val is_value : expression -> bool
(** [true] if the expression computes nothing. *)

val delay : loc:Location.t -> expression -> expression
(** A lazy value that computes the expression when it is forced. *)

val from_val : loc:Location.t -> expression -> expression
(** A lazy value that is forced already. *)

val make : loc:Location.t -> expression -> expression
(** {!from_val} if the expression is a value, and otherwise {!delay}. *)

val error : loc:Location.t -> string -> expression
(** An expression that the compiler reports as an error, with that text. *)
