(** A parallel depth-first search whose other searchers are cancelled when one
    of them has found the answer: the use of cancellation in sections 1 and 5 of
    "Effectively Composing Concurrency Libraries". *)

val group : Case.group
