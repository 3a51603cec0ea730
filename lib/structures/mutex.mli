(** Mutual exclusion between tasks of any hosts.

    {b Stability}: stable.

    It is a drop-in for Stdlib's [Mutex], but waiting blocks only the task, and
    not its thread.

    {[
      # let mutex = Mutex.create ()
      val mutex : Concord.Mutex.t = <abstr>
      # Mutex.protect mutex (fun () -> Mutex.try_lock mutex)
      - : bool = false
    ]}

    Unlike Stdlib's, a mutex doesn't know its owner, because tasks of all hosts
    may use it, and remembering the owner would cost more than locking and
    unlocking. Any task may unlock it. If a task locks its own mutex, it waits
    until another task unlocks it, where Stdlib's mutex raises [Sys_error]. Only
    if nothing in the whole program can unlock it, the task gets
    {!Concord.Tools.Suspend.Never_resumed}. To find such mistakes, see
    {!section-owners}. A mutex isn't poisoned if the function of {!protect}
    raises.

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    See also the pages on {{!/concord/stdlib}Stdlib}, {{!/concord/eio}Eio} and
    {{!/concord/lwt}Lwt}. *)

type t
(** A mutex. *)

(** {1 Creating} *)

val create : unit -> t
(** [create ()] returns an unlocked mutex. Because this is Stdlib's signature,
    you name a mutex with {!Concord.Tools.Debug.val-name}. *)

val create_in_order : unit -> t
(** [create_in_order ()] returns an unlocked mutex at which newcomers never
    overtake, even if a thread is asleep ({!section-sleeping}).

    In return, threads may be ten times slower or more. Even if no task waits,
    locking and unlocking it takes several times as long. *)

(** {1 Locking} *)

val lock : t -> unit
(** [lock t] waits until [t] is unlocked, and locks it. Waiting tasks get the
    mutex in the order in which they arrived, except for
    {{!section-sleeping}sleeping threads}.

    - {b Suspends} while [t] is locked. If the task itself has locked [t], it
      waits forever, unless another task unlocks [t].
    - {b Cost}: O(1). Locking and unlocking a free mutex takes two
      compare-and-sets and allocates nothing. *)

val try_lock : t -> bool
(** [try_lock t] locks [t] and returns [true], or returns [false] if [t] is
    locked. *)

val unlock : t -> unit
(** [unlock t] hands [t] to the first waiting task, or unlocks it.

    - {b Raises} [Sys_error] if [t] is not locked. *)

val protect : t -> (unit -> 'a) -> 'a
(** [protect t f] locks [t], calls [f ()], and unlocks [t] when [f] returns,
    raises or is cancelled.

    - {b Suspends} where {!lock} and [f] do.
    - {b Raises} [e] if [f] raises [e], after it has unlocked [t].
    - {b Raises} [Sys_error] if [t] is not locked when [f] ends. *)

val lock_evt : t -> unit Event.t
(** [lock_evt t] is the event of {!lock}. *)

(** {1 Inspecting} *)

val is_locked : t -> bool
(** [is_locked t] is [true] if a task holds [t]. *)

val waiters : t -> int
(** [waiters t] is the number of waiting tasks, for diagnosis. *)

(** {1:sleeping Overtaking threads that are asleep}

    Waking a sleeping thread takes microseconds, and all other tasks would have
    to wait meanwhile. If the first waiting task is in such a thread, itself or
    as a loop, {!unlock} therefore wakes the thread and leaves the mutex
    unlocked until the thread comes. Other tasks may lock the mutex before it,
    and overtake the tasks behind it too.

    - At most 100 locks overtake it, and none later than a millisecond after it
      was first woken. If it finds the mutex locked, it becomes the first of the
      queue again, but the count and the time continue.
    - Afterwards, the mutex is kept for it while it is on its way, or is handed
      to it directly if it waits. If it takes long to wake, because other code
      of its domain computes, the others wait for it.
    - Alternatives of a choice are never woken in vain.

    {!Semaphore}, {!Concord.Rwlock} and {!Concord.Mvar} do the same. If you need
    strict order, use {!create_in_order}. *)

(** {1:owners Finding mistakes}

    While waits are kept ({!Concord.Tools.Debug.keep_waits}), a mutex remembers
    its owner. This works if the owner's host can tell its tasks apart, and in
    {!protect} on every host.

    - If a task locks its own mutex, it gets [Sys_error], with the place where
      it locked the mutex.
    - If a task unlocks a mutex locked by another task, the mistake is reported
      on standard error, but the mutex is unlocked.
    - If a task waits for a mutex whose owner has ended, this is reported too,
      once the garbage collector has noticed the end.

    On hosts that can't tell their tasks apart, {!lock} may suspend for a moment
    longer to find the owner, and so does a {!protect} inside another one. In
    [block] of {!Concord.Tools.Suspend.suspend}, the owner is the task running
    around it. *)

(**/**)

val unlock_step : unit -> Permits.state -> (Permits.state, unit) Step.t
(** The step of {!unlock}, for [Step.surely]. *)

val word : t -> Permits.t

val not_permitted : exn
(** {!unlock} raises this exception if the mutex isn't locked. *)

val owners : t -> Holder.t list

val give_back : t -> unit
(** Performs {!unlock_step}, for a task that will lock the mutex again. The
    owner gives it back ([Holders.gives_back]). Unbroken. *)

val try_release : t -> bool
(** [try_release t] unlocks [t] if no task waits for it and waits are not kept.
*)
