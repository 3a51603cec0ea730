(** A rendezvous of two sides, as operations by hand, with at most one fault. *)

type fault =
  | Nothing
  | Looks_at_is_empty
      (** It doesn't enlist while the other side isn't empty, even if that side
          only contains a waiter of the same choice. *)
  | Looks_then_enlists
      (** The other side may come between the check and the enlisting. *)

val operation : fault -> (module Concord_testkit.Operation.OPERATION)
