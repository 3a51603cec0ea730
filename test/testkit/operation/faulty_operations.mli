(** Structures that fail on purpose. *)

open Concord_testkit

val sound : (string * (module Operation.OPERATION)) list
(** Those that the others are made of: they pass. *)

val faulty : (string * (module Operation.OPERATION) * string list) list
(** What each does wrong, and which clauses it breaks. *)
