(** Interrupts an operation at each moment. Afterwards the structure must be as
    before the operation, or as after it. *)

open Concord_test_support

val alone : seed:int -> twice:bool -> Partner.t -> Scene.case -> string list
(** Returns the faults that were found. The partner is a thread. If the
    operation has to wait, the partner lets it continue once it waits. With
    [twice], each moment is tried again with a second handler that raises soon
    after the first. *)

val beside : seed:int -> Partner.t -> Scene.case -> string list
(** The partner is a domain. It lets the operation continue at any time, and
    also comes and leaves itself. *)
