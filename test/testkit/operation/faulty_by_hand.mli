(** Rendezvous of two sides, as operations by hand, with at most one fault. *)

type fault =
  | Nothing
  | Looks_at_is_empty
      (** It is not enlisted while the other side is not empty, even if that is
          a waiter of its own choice. *)
  | Looks_then_enlists  (** Another side may come between the two. *)

val operation : fault -> (module Concord_testkit.Operation.OPERATION)
