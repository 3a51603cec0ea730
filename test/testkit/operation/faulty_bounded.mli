(** A bounded queue that relies only on the contract, with at most one fault. *)

type fault =
  | Nothing
  | Grows_by_leaving  (** Each cancelled task adds a slot. *)
  | Grows_by_refusing
      (** A cancelled task that hasn't left when it is served adds a slot. *)
  | Grows_by_takers  (** A task that tries to take in vain adds a slot. *)
  | Looks_then_adds  (** Two tasks may see the same free slot. *)

val operation : fault -> (module Concord_testkit.Operation.OPERATION)
(** The operation is [add], and its release is [take]. *)
