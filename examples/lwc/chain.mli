(** [n] threads in a row. Each takes a number from an MVar, and puts the next
    number into its neighbour's MVar. The result is [[| n |]].

    One more thread, which is spawned last, puts the first number, so all others
    wait at first. The paper doesn't have this program. It is the smallest one
    with a given number of threads. *)

include Program.WRITTEN
