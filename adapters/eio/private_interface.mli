(** The parts of Eio's private interface that this adapter uses, checked in one
    place. *)

module Effects = Eio.Private.Effects
module Fiber_context = Eio.Private.Fiber_context
module Trace = Eio.Private.Trace
module Dla = Eio_utils.Dla
