(** Mutual exclusion between tasks of any hosts.

    {b Stability}: stable.

    A drop-in for Stdlib's [Mutex] that blocks the task only, and serves waiting
    tasks in the order of their arrival: a mutex that is unlocked while others
    wait passes to the first of them, and no task overtakes.

    {b Threads that sleep} are the exception. Waking one takes microseconds, and
    everybody else would wait for it meanwhile. So if the first task waits in a
    thread that sleeps, itself or as a loop, [unlock] wakes it and leaves the
    mutex free until it comes. At most 100 locks overtake it, and with it those
    behind it. If it finds the mutex locked, it is the first of the queue again.
    One millisecond after it was first woken, the mutex is handed to it
    directly. Alternatives of a choice are never woken in vain. {!Semaphore},
    {!Rwlock} and {!Mvar} do the same. {!create_in_order} makes a mutex that
    keeps the order in any case.

    It differs in one point: since tasks of all hosts may use it, a mutex does
    not know who locked it, unless it is locked while waits are kept (below).
    Where Stdlib's raises [Sys_error] in a thread that locks it twice, the task
    waits here (until another one unlocks it); and any task may unlock it.
    Nothing is poisoned when the function of {!protect} raises. A task that
    locks its own mutex is told only where the whole program has nothing else
    that could unlock it ({!Concord.Tools.Suspend.Never_resumed}): to remember
    the owner would cost more than to lock and unlock.

    {b While waits are kept} ({!Concord.Tools.Debug.keep_waits}) a mutex
    remembers its owner, if the owner's host tells its tasks apart, or while it
    runs {!protect}. A task that locks its own mutex gets [Sys_error] then, with
    where it was locked; to unlock that of another task is reported on the
    standard error, and works all the same; so is to wait for one whose owner
    has ended, once the collector has found that out. Where tasks have no
    identity, {!lock} may suspend for a moment more to find that out, and so
    does a {!protect} within a {!protect}. The answers are the host's: in
    [block] of {!Concord.Tools.Suspend.suspend} they are those of what runs
    around it. The name of a mutex is given by {!Concord.Tools.Debug.val-name},
    as {!create} is Stdlib's.

    An operation without a {b Suspends} line never suspends and performs no
    effect: signal handlers, finalisers and callbacks may use it. Without a
    {b Cost} line it is O(1).

    {[
      # let mutex = Mutex.create ()
      val mutex : Concord.Mutex.t = <abstr>
      # Mutex.protect mutex (fun () -> Mutex.try_lock mutex)
      - : bool = false
    ]} *)

type t

val create : unit -> t
(** An unlocked mutex. *)

val create_in_order : unit -> t
(** An unlocked mutex that no task ever overtakes at, whatever its thread does:
    so threads may be slower by a factor of ten and more. A function of its own,
    because {!create} is Stdlib's. To lock and unlock it while it is free takes
    several times as long. *)

val lock : t -> unit
(** [lock t] locks [t].

    - {b Suspends} while [t] is locked: for ever, if the task locked it itself
      and no other one unlocks it.
    - {b Cancelled} while suspended: [t] was not locked by this call, and no
      other task loses its turn. A task that was given the lock returns with it,
      even if it is cancelled right after.
    - {b Order}: that of arrival, but for threads that sleep (above).
    - {b Cost}: O(1), also to withdraw (amortised). To lock and unlock a free
      mutex is two compare-and-sets and allocates nothing. *)

val try_lock : t -> bool
(** [try_lock t] locks [t] if it is not locked. Returns [true] if it did. *)

val unlock : t -> unit
(** [unlock t] passes [t] to the first task that waits, or unlocks it.

    - {b Raises} [Sys_error] if [t] is not locked. *)

val protect : t -> (unit -> 'a) -> 'a
(** [protect t f] is [f ()] with [t] locked, and unlocks it however [f] ends.

    - {b Suspends}, {b Cancelled}: as {!lock}, and as [f].
    - {b Raises} [e] if [f] raises [e], after [t] was unlocked.
    - {b Raises} [Sys_error] if [t] is not locked when [f] ends. *)

val lock_evt : t -> unit Event.t
(** The event of {!lock}. *)

val is_locked : t -> bool
(** Does a task hold [t]? *)

val waiters : t -> int
(** How many tasks wait, for diagnosis. One that was cancelled counts until it
    is unwound. *)

val is_empty : t -> bool
(** [is_empty t] is [waiters t = 0], as in [Lwt_mutex]. *)

(**/**)

val unlock_step : unit -> Permits.state -> (Permits.state, unit) Step.t
(** For [Step.surely]. *)

val word : t -> Permits.t

val not_permitted : exn
(** What that raises if the mutex is not locked. *)

val owners : t -> Waits.holder list

val try_release : t -> bool
(** Unlocks [t], if no task waits for it, and waits are not kept. *)

val try_lock_soon : t -> bool
(** As {!try_lock}, but spins for a microsecond, as {!lock} does before it
    suspends. *)

val lock_again : t -> unit
(** Locks [t] for a task that must have it. When this returns or raises, which
    it does for a signal handler, [t] is locked by the caller. Not cancelled. *)
