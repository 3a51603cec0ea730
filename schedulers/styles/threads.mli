(** System threads, to compare with. They are switched at any time; so what
    several of them change needs a lock. (Section 4 of the paper.)

    {b Stability}: experimental, may change in any release.

    If the system cannot create so many, that is an exception in the thread that
    begins the next one: it ends all threads, and [start] raises [Sys_error].
    Linux gives a process some ten thousand, and the time to end so many grows
    faster than their number, in OCaml's runtime. *)

include Signatures.Direct
