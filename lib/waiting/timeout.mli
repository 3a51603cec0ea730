(** Waiting until a time: an operation like that of any structure. *)

type t
(** One wait. A choice may enlist it again: it has one deadline. *)

val create : unit -> t

val passing : (t, float, unit) Operation.t
(** Performed when so many seconds have passed since the first attempt to wait.
*)
