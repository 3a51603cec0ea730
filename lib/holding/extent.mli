(** Tasks that are known for the extent of a function.

    A host that does not answer {!Who.Who} leaves its tasks without identity.
    While such a task holds something it runs under a handler of ours that
    answers instead, wherever the host lets effects through to it: so a cycle
    can go over such a task.

    The handler takes no other effect, and is gone when the function ends. A
    host that takes every effect performs none of ours in its tasks: there they
    are unknown as before. *)

val within : (Who.t -> 'a) -> 'a
(** [within f] is [f who], in which [who] waits: the calling task as its host
    knows it, or known for the extent of [f]. What [f] raises keeps its
    backtrace. To be used while waits are kept.

    - {b Suspends} as [f]; and for a moment if the caller is in such an extent
      already, to tell whether it is the same task: it may be one of a scheduler
      that runs there. *)

val task : unit -> Who.t
(** The calling task as its host knows it, or {!Who.unknown}. Suspends never. On
    a host that handles [Suspend] and no question, it is the thread. *)

val is_certain : Who.t -> bool
(** Is the caller no other task than this, which {!task} was? A thread is
    certain if it has nothing to suspend it. {b Suspends} for a moment there: to
    be called before a wait. *)
