(** A concurrent sort of [n] numbers. (Section 3.3 and Figure 3 of the paper.)

    Each of [n (n - 1) / 2] threads compares two numbers once. It takes one
    number from each of two MVars, and puts the lower and the higher one into
    two other MVars. One more thread takes the result. The last thread puts the
    numbers in, so before the first comparison all other threads wait.

    The numbers are pseudo-random, and depend only on [n]. *)

include Program.WRITTEN
