(** How others reach Async's scheduler.

    Async's state belongs to the thread that holds Async's lock, on the domain
    that Async was linked on. What others want done there goes through a queue
    of wakes. (Async's own [Thread_safe] relies on the master lock, which is one
    for each domain: it serves the threads of that domain only.) *)

val is_here : unit -> bool
(** May the calling thread touch Async's state? *)

val is_in_async : unit -> bool
(** Does the calling thread run code of Async, which others wait for until it
    returns: a job, or the function of [Thread_safe.run_in_async]? *)

val enter : unit -> unit
(** Must be called before the first {!resume}.
    @raise Invalid_argument unless {!is_here}. *)

val resume : bool Atomic.t -> 'a Async.Ivar.t -> 'a -> bool
(** [resume decided ivar v] replaces [false] in [decided] by [true]; [false] if
    that fails. Then [ivar] is filled with [v] in a cycle of Async, soon, in the
    order of the calls. From any thread of any domain, at any moment.

    If it raises what a signal handler raises, nothing has happened, or all of
    it.
    - {b Cost}: O(1). A system call only if no cycle is on, and none was asked
      for. *)
