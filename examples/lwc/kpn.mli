(** A Kahn process network: the first [n] numbers of the form 2{^ a} 3{^ b}
    5{^ c}, in increasing order. (Section 3.1 and Figure 1 of the paper.)

    The numbers multiplied by 2, by 3 and by 5 are subsequences of the sequence
    itself: so it is what two threads [merge] from three threads [times], which
    thread [x] feeds with it through a Fifo each. All else are MVars. The number
    1 that begins it all comes from a seventh thread.

    [n] is at most {!max_n}: from there on a product may not be an [int]. *)

include Program.WRITTEN

val max_n : int
