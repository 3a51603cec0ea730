(** Trampolined style. A thread passes the rest of its work to each operation,
    as a function. It waits by keeping the function elsewhere and returning to
    the scheduler, from which the next thread bounces. (Section 5.1 of the
    paper.)

    {b Stability}: experimental, may change in any release. *)

include Signatures.Trampolined
