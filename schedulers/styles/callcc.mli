(** Call with current continuation: a thread that waits keeps its own
    continuation and throws to that of the next thread. There is no scheduler.
    (Section 4.1 of the paper, by {!Cont}.) *)

include Signatures.Direct
