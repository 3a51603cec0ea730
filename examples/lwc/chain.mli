(** [n] threads in a row: each takes a number from an MVar, and puts the next
    one into that of its neighbour. The result is [[| n |]].

    The first number is put by one more thread, which is spawned last; so all
    others wait at once. It is no program of the paper, but the least one with a
    given number of threads. *)

include Program.WRITTEN
