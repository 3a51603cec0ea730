(** [[%lazy e]], as an expression. *)

open Ppxlib

val ghost : Location.t -> Location.t
(** That of code which the user has not written. *)

val delay : loc:Location.t -> expression -> expression
(** A lazy value that computes the expression when it is forced. *)

val make : loc:Location.t -> expression -> expression
(** The same, or a lazy value that is forced already if the expression is a
    value. *)

val error : loc:Location.t -> string -> expression
(** What the compiler reports as an error there. *)
