(** Trampolined style: a thread itself says what is to be done next, in a
    function that each operation takes. To wait is to keep the function
    elsewhere and return to the scheduler, from which the next thread bounces.
    (Section 5.1 of the paper.)

    {b Stability}: experimental, may change in any release. *)

include Signatures.Trampolined
