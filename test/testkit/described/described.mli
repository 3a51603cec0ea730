open Concord_test_support

(** The operations of the table, described as the library for users' own
    structures requires. *)

val operation : int Operations.t -> (module Concord_testkit.Operation.OPERATION)

val cases : int Operations.t -> (string * (unit -> unit)) list
(** {!Concord_testkit.Operation.cases}. *)
