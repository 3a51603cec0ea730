(** A Kahn process network that computes the first [n] numbers of the form
    2{^ a} 3{^ b} 5{^ c}, in increasing order. (Section 3.1 and Figure 1 of the
    paper.)

    The numbers multiplied by 2, by 3 and by 5 are subsequences of the sequence
    itself. So two threads [merge] make the sequence from three threads [times].
    Thread [x] sends the sequence back to these three, through a Fifo each. All
    other connections are MVars. A seventh thread puts in the first number, 1.

    [n] is at most {!max_n}, because a larger product may not fit into an [int].
*)

include Program.WRITTEN

val max_n : int
