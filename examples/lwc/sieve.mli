(** The sieve of Eratosthenes, which finds the first [n] primes. (Section 3.2
    and Figure 19 of the paper.)

    A chain of threads forwards numbers. [integers] makes them, and for each
    prime that was found there is a [filter], which forwards only the numbers
    that are not multiples of it. Then come [sift], which inserts the filters,
    and [output]. At the end there are [n + 2] or [n + 3] threads. *)

include Program.WRITTEN
