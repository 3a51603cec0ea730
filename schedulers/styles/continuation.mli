(** The continuation monad: trampolined style with types. A value of type ['a t]
    is what can be done with the rest of a thread that waits for an ['a]; [>>=]
    makes that rest. It does something each time it is bound. (Section 5.2 of
    the paper.)

    {b Stability}: experimental, may change in any release. *)

include Signatures.Monadic with type 'a t = ('a -> unit) -> unit
