(** A small scheduler, first in, first out, that keeps the contract; and the
    same with one fault. *)

val host : ?fault:Fault.t -> string -> (module Concord_testkit.Host.HOST)
(** The argument is its name. *)
