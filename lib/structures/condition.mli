(** Condition variables, with {!Mutex} or without, for tasks of any hosts.

    {b Stability}: stable.

    A drop-in for Stdlib's [Condition]; but there are no wake-ups without a
    signal, and tasks are woken in the order in which they began to wait. *)

type t

val create : unit -> t
(** A condition for which no task waits. It gets a name by
    {!Concord.Tools.Debug.val-name}, as this is Stdlib's signature. *)

val wait : t -> Mutex.t -> unit
(** [wait t mutex] unlocks [mutex], waits for a signal, and locks [mutex] again.
    A signal sent after [mutex] was unlocked is not missed.

    - {b Suspends} until the signal, and then while [mutex] is locked.
    - {b Cancelled} while it waits for the signal: it has consumed none, locks
      [mutex] again under {!Concord.Tasks.protect} and raises. Once signalled it
      locks [mutex], also under {!Concord.Tasks.protect}, and returns: a
      cancellation arrives at the next suspension. In a program of several
      domains a cancellation that came before is as one that comes now: others
      may have had [mutex] meanwhile, if none was waiting for it, and a signal
      that comes at once may be first. In Eio without [concord-eio] nothing
      protects: a cancelled fiber for which [mutex] is not free then raises
      without it.
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
    that also waits for a {!Barrier}, or by {!loop_no_mutex_evt}, may perform it
    without a signal: if that woke the task in vain, a signal may have come
    meanwhile.

    - {b Raises} [Sys_error] if [mutex] is not locked, when the event is
      performed.
    - {b Raises} [Invalid_argument] if one choice has two such alternatives of
      the same mutex. *)

val waiters : t -> int
(** How many tasks wait for a signal, for diagnosis. One that was cancelled
    counts until it is unwound. One that looks in {!loop_no_mutex} may count.
    O(1). *)

(** {2 Without a mutex}

    For a state that needs no mutex, as an [Atomic]. Whoever changes the state
    does that first, and then calls {!broadcast} (or {!signal}, where any one of
    those that wait can use the change), in any domain or signal handler.

    {[
      # let stock = Atomic.make 0 and delivered = Condition.create ()
      val stock : int Atomic.t = <abstr>
      val delivered : Concord.Condition.t = <abstr>
      # let rec take_one () =
          match Atomic.get stock with
          | 0 -> None
          | n when Atomic.compare_and_set stock n (n - 1) -> Some n
          | _ -> take_one ()
      val take_one : unit -> int option = <fun>
      # let deliver () = Atomic.incr stock; Condition.signal delivered
      val deliver : unit -> unit = <fun>
      # let thread = Thread.create deliver ()
      val thread : Thread.t = <abstr>
      # Condition.loop_no_mutex delivered take_one
      - : int = 1
    ]} *)

val loop_no_mutex : t -> (unit -> 'a option) -> 'a
(** [loop_no_mutex t f] calls [f ()] until it is [Some v], and returns [v].
    After [None] it waits for a wake-up. It misses none, because the task takes
    its slot in the queue of [t] {e before} it calls [f]. A wake-up that comes
    while [f] looks makes it look again. So [f] is called once, and once more
    after each wake-up, as by [Eio.Condition].

    A signal is not used up by a task that needs none: if it may have come after
    [f] has found what it wants, or if [f] raises after it, it is passed on. So
    is a signal that has woken a task in which a signal handler then raises, at
    whichever moment.

    - {b Suspends} while [f ()] is [None], and where [f] does.
    - {b Cancelled} while suspended: it has consumed no signal, and the host's
      exception is raised; also in [f].
    - {b Order}: that of the last looks. A task that has looked in vain goes to
      the end of the queue.
    - {b Cost}: O(1) for each look, also to withdraw (amortised), and [f]. The
      first look takes a slot too, even if it finds at once what it wants.
    - {b Raises} [e] if [f] raises [e]. *)

val loop_no_mutex_evt : t -> (unit -> 'a option) -> 'a Event.t
(** The event of {!loop_no_mutex}: performed when [f ()] is [Some v]. Here [f]
    must not suspend, nor perform an effect, and be short: a choice calls it
    also where it may not wait, and twice after a wake-up in vain. Once [f] has
    given [Some v], no other alternative is performed; nor once it has raised
    [e], in whichever look: then performing the event raises [e], as
    {!Concord.Event.wrap_handler} and {!Concord.Event.to_result} see. *)

val wait_no_mutex : t -> unit
(** [wait_no_mutex t] waits for a wake-up that comes after it has begun to wait.
    It misses those that came before, also those between a look of the caller
    and the call: to wait for a state use {!loop_no_mutex}.

    - {b Suspends} until the wake-up.
    - {b Cancelled} while suspended: it has consumed no signal. Once signalled
      it returns.
    - {b Order}: that of arrival, among all that wait for [t].
    - {b Cost}: O(1), also to withdraw (amortised). *)

val wait_no_mutex_evt : t -> unit Event.t
(** The event of {!wait_no_mutex}. A choice begins to wait for it after its
    other alternatives; one that also waits for a {!Barrier}, or by
    {!loop_no_mutex_evt}, may miss a wake-up, if that woke it in vain.
    {!Concord.Event.poll} never performs it. *)
