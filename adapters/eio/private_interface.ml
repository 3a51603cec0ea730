[@@@warning "-unused-value-declaration"]

module type Tested = sig
  module Fiber_context : sig
    type t

    val tid : t -> Eio.Private.Trace.id
    val get_error : t -> exn option
    val set_cancel_fn : t -> (exn -> unit) -> unit
  end

  module Effects : sig
    type 'a enqueue = ('a, exn) result -> unit

    type _ Effect.t +=
      | Suspend : (Fiber_context.t -> 'a enqueue -> unit) -> 'a Effect.t
      | Get_context : Fiber_context.t Effect.t
  end

  module Trace : sig
    val suspend_fiber : string -> unit
  end
end

(* If Eio's interface differs, the compiler's error shows the next lines. So the comment in
   them is the message for the user. *)
module _ : Tested =
  Eio.Private (* concord-eio is for Eio 1.2 to 1.6, which have this interface *)

module Effects = Eio.Private.Effects
module Fiber_context = Eio.Private.Fiber_context
module Trace = Eio.Private.Trace

module Dla =
  Eio_utils.Dla (* concord-eio is for Eio 1.2 to 1.6, which have it *)
