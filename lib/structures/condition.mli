(** Condition variables, with {!Mutex}, for tasks of any hosts.

    A drop-in for Stdlib's [Condition]; but there are no wake-ups without a
    signal, and tasks are woken in the order in which they began to wait. *)

type t

val create : unit -> t
(** A condition for which no task waits. *)

val wait : t -> Mutex.t -> unit
(** [wait t mutex] unlocks [mutex], waits for a signal, and locks [mutex] again.
    A signal sent after [mutex] was unlocked is not missed.

    - {b Suspends} until the signal, and then while [mutex] is locked.
    - {b Cancelled} while it waits for the signal: it has consumed none, locks
      [mutex] again under {!Concord.Suspend.protect} and raises. Once signalled
      it locks [mutex], also under {!Concord.Suspend.protect}, and returns: a
      cancellation arrives at the next suspension. In Eio without [concord-eio]
      nothing protects: a cancelled fiber for which [mutex] is not free then
      raises without it.
    - {b Order}: that of arrival, and the same for [mutex].
    - {b Cost}: O(1), also to withdraw (amortised).
    - {b Raises} [Sys_error] if [mutex] is not locked. *)

val signal : t -> unit
(** [signal t] wakes the task that has waited longest, if there is one. It never
    suspends and performs no effect, whether or not a mutex is locked. O(1). *)

val broadcast : t -> unit
(** [broadcast t] wakes all tasks that wait, in the order of their arrival. It
    never suspends and performs no effect. O(n) for [n] tasks. *)

val wait_evt : t -> Mutex.t -> unit Event.t
(** The event of {!wait}, for a wait with a limit:

    {[
      # let wait_until ready condition mutex seconds =
          let late = Event.at (Unix.gettimeofday () +. seconds) in
          let rec wait () =
            ready ()
            || Event.select
                 [
                   Event.wrap (Condition.wait_evt condition mutex) (fun () -> true);
                   Event.wrap late (fun () -> false);
                 ]
               && wait ()
          in
          Mutex.protect mutex wait
      val wait_until :
        (unit -> bool) -> Concord.Condition.t -> Concord.Mutex.t -> float -> bool =
        <fun>
      # wait_until (fun () -> false) (Condition.create ()) (Mutex.create ()) 0.01
      - : bool = false
    ]}

    In a choice [mutex] is locked again whichever alternative is performed,
    before the functions given to {!Concord.Event.wrap} run, and also if the
    task is cancelled: so a choice may end later than a timeout in it, while
    others hold [mutex]. It must have no other alternative that waits with the
    same mutex, or locks it. {!Concord.Event.poll} never performs it. A choice
    that also waits for a {!Barrier} may perform it without a signal: if the
    barrier woke the task in vain, a signal may have come meanwhile.

    - {b Raises} [Sys_error] if [mutex] is not locked, when the event is
      performed.
    - {b Raises} [Invalid_argument] if one choice has two such alternatives of
      the same mutex. *)

val waiters : t -> int
(** How many tasks wait for a signal, for diagnosis. One that was cancelled
    counts until it is unwound. O(1). *)
