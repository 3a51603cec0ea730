(** Call with current continuation. A thread that waits keeps its own
    continuation and throws to that of the next thread. There is no scheduler.
    (Section 4.1 of the paper, by {!Cont}.)

    {b Stability}: experimental, may change in any release. *)

include Signatures.Direct
