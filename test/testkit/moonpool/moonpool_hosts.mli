(** Tasks of Moonpool's pools, with [concord-picos], for the suite. The pools
    have two threads. *)

open Concord_testkit.Host

val signals : string * string
(** Declares that a resumer takes a lock. *)

module Fifo_pool : HOST
module Ws_pool : HOST
