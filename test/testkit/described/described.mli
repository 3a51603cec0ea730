open Concord_test_support

(** The operations of the table, as the library for users' own structures has
    them described. *)

val operation : int Operations.t -> (module Concord_testkit.Operation.OPERATION)

val suite : int Operations.t -> string * unit Alcotest.test_case list
(** A test for each part of the clauses, in this process. *)
