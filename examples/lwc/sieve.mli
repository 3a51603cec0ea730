(** The sieve of Eratosthenes: the first [n] primes. (Section 3.2 and Figure 19
    of the paper.)

    A chain of threads, each of which forwards the numbers that are no multiples
    of its own: [integers], then a [filter] for each prime that was found, then
    [sift], which inserts those, and [output]. At the end there are [n + 2] or
    [n + 3] threads. *)

include Program.WRITTEN
