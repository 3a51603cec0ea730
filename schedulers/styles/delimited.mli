(** Delimited continuations: a scheduler calls each thread above a prompt. To
    wait is to take the stack down to the prompt, keep it elsewhere, and so
    return to the scheduler. (Section 4.2 of the paper, by {!Prompt}.)

    {b Stability}: experimental, may change in any release. *)

include Signatures.Direct
