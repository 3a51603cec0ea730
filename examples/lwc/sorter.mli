(** A concurrent sort of [n] numbers. (Section 3.3 and Figure 3 of the paper.)

    Each of [n (n - 1) / 2] threads compares two numbers, once: it takes one
    from each of two MVars, and puts the lower one and the higher one into two
    others. One more thread takes the result, and the last one puts the numbers
    in; so before the first comparison all other threads wait at once.

    The numbers are pseudo-random, and depend on [n] only. *)

include Program.WRITTEN
