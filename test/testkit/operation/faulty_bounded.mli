(** A bounded queue, of nothing but the contract, with at most one fault. *)

type fault =
  | Nothing
  | Grows_by_leaving  (** A task that is cancelled leaves a slot more. *)
  | Grows_by_refusing
      (** So does one that is cancelled and has not left when its turn comes. *)
  | Grows_by_takers  (** So does a task that takes in vain. *)
  | Looks_then_adds  (** Two tasks may see the same free slot. *)

val operation : fault -> (module Concord_testkit.Operation.OPERATION)
(** [add], and [take] as its release. *)
