(** Interrupts an operation at each moment, and looks at what has become of the
    structure: as before, or as after it. *)

open Concord_test_support

val alone : seed:int -> twice:bool -> Partner.t -> Scene.case -> string list
(** What was found. If the operation has to wait, the partner, a thread, lets it
    continue once it waits. [twice]: then two handlers raise, the second one
    soon after the first. *)

val beside : seed:int -> Partner.t -> Scene.case -> string list
(** The partner, a domain, does so at any time, and comes and leaves. *)
