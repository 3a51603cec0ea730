(** Structures that fail on purpose. *)

open Concord_testkit

val sound : (string * (module Operation.OPERATION)) list
(** The structures that the faulty ones are made of. They pass. *)

val faulty : (string * (module Operation.OPERATION) * string list) list
(** The fault of each structure, and the clauses that it breaks. *)
