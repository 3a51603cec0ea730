(** The library's structures that wait on both sides, with the events of both.
*)

val all : (string * (module Concord_testkit.Operation.OPERATION)) list
