(** Event-based style. A thread is a chain of handlers in an {!Equeue}. Each
    operation that must wait makes an event, and adds a handler for the rest of
    the thread. (Section 5.4 of the paper.)

    {b Stability}: experimental, may change in any release. *)

include Signatures.Trampolined
