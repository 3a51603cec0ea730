(** What a task owes that takes from a full {!Stream} to which others wait to
    add. *)

open Stream_nodes

val full : 'a front -> ('a, unit) Waiters.t -> 'a first
(** With this front, and these adders, if there are any. *)

type 'a duty =
  | Move  (** To fill the room, and to leave the state [Moving]. *)
  | Add of 'a  (** The item of an adder that was resumed. *)
  | Seal
  | Moved

val move : 'a t -> 'a duty Debt.t -> unit
(** For {!Debt.pay}. *)
