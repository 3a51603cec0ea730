(** Two sides that meet and exchange their numbers. *)

val trade : looks:bool -> (module Concord_testkit.Operation.OPERATION)
(** With [~looks:false], a task that enlists doesn't check whether a task of the
    other side has come meanwhile. *)
