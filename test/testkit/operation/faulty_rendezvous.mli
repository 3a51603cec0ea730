(** Two sides that meet, and trade their numbers. *)

val trade : looks:bool -> (module Concord_testkit.Operation.OPERATION)
(** [~looks:false]: who enlists does not look whether somebody of the other side
    has come meanwhile. *)
