(** Giving a task an identity while a function runs.

    If a host doesn't answer {!Who.Who}, its tasks have no identity. So while
    such a task holds something, it runs under a handler of this library that
    answers instead. Then a report can find a cycle that contains such a task.

    The handler handles no other effect, and ends with the function. It has no
    effect on a host that handles every effect itself, and whose tasks stay
    unknown. *)

val within : (Who.t -> 'a) -> 'a
(** [within f] calls [f who], where [who] is the calling task as its host knows
    it. If the host doesn't know it, the task is known as [who] until [f] ends.
    Exceptions of [f] keep their backtrace. Call it while waits are kept.

    - {b Suspends} as [f]. If the caller is already in such an extent, it also
      suspends for a moment, to find out whether it is still the same task. It
      may be a task of a scheduler that runs there. *)

val task : unit -> Who.t
(** [task ()] is the calling task as its host knows it, or {!Who.unknown}. It
    never suspends. On a host that handles [Suspend] but no question, it is the
    thread. *)

val is_certain : Who.t -> bool
(** [is_certain who] is [true] if [who], a result of {!task}, is certainly the
    caller. A thread is certain if nothing can suspend it. To find that out, it
    suspends for a moment. Call it before a wait. *)
