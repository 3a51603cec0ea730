(** System threads, to compare with. They are switched at any time; so what
    several of them change needs a lock. (Section 4 of the paper.) *)

include Signatures.Direct
