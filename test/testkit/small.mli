(** A small scheduler, first in, first out, that keeps the contract. It can also
    have one fault. *)

val host :
  ?fault:Fault.t ->
  ?not_offered:(string * string) list ->
  string ->
  (module Concord_testkit.Host.HOST)
(** The argument is its name. *)
