(** Event-based style: a thread is a chain of handlers in an {!Equeue}. Each
    operation that must wait makes an event, and adds a handler for what is to
    be done when it happens. (Section 5.4 of the paper.)

    {b Stability}: experimental, may change in any release. *)

include Signatures.Trampolined
