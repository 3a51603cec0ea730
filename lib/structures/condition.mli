(** Condition variables, with a {!Mutex} or without, for tasks of any hosts.

    {b Stability}: stable.

    It is a drop-in for Stdlib's [Condition], but there are no spurious
    wake-ups, and tasks are woken in the order in which they began to wait. For
    example, a task waits here until another one has delivered:

    {[
      # let mutex = Mutex.create () and delivered = Condition.create ()
      val mutex : Concord.Mutex.t = <abstr>
      val delivered : Concord.Condition.t = <abstr>
      # let stock = ref 0
      val stock : int ref = {contents = 0}
      # let buy () =
          Mutex.protect mutex (fun () ->
              while !stock = 0 do Condition.wait delivered mutex done;
              decr stock)
      val buy : unit -> unit = <fun>
      # let deliver () =
          Mutex.protect mutex (fun () -> incr stock; Condition.signal delivered)
      val deliver : unit -> unit = <fun>
      # Tasks.both buy deliver
      - : unit * unit = ((), ())
    ]}

    If your state needs no mutex, because it is an [Atomic], see
    {!section-no_mutex}.

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    See also the pages on {{!/concord/stdlib}Stdlib}, {{!/concord/eio}Eio} and
    {{!/concord/lwt}Lwt}. *)

type t
(** A condition variable. *)

val create : unit -> t
(** [create ()] returns a condition variable for which no task waits. Because
    this is Stdlib's signature, you name it by {!Concord.Tools.Debug.val-name}.
*)

(** {1 With a mutex} *)

val wait : t -> Mutex.t -> unit
(** [wait t mutex] unlocks [mutex], waits for a signal, and locks [mutex] again.

    It doesn't miss a signal sent after [mutex] was unlocked. Signals and
    [mutex] are both given in the order in which tasks arrived.

    - {b Suspends} until the signal, and then while [mutex] is locked.
    - {b Cancelled} before the signal, it has consumed no signal. It locks
      [mutex] again under {!Concord.Tasks.protect}, and raises the host's
      exception.
    - {b Cancelled} after the signal, it also locks [mutex] under
      {!Concord.Tasks.protect}, and returns normally. The cancellation is
      delivered at the next suspension.
    - {b Raises} [Sys_error] if [mutex] is not locked, even if another task
      unlocks it only while [wait] begins.

    In Eio without [concord-eio] nothing protects. If [mutex] isn't free, a
    cancelled fiber then raises without the lock.

    In a program with several domains, a task already cancelled when it calls
    [wait] may first unlock [mutex], if no task is waiting for it. Then another
    task may hold [mutex] meanwhile, and if a signal comes at once, [wait]
    returns normally. *)

val signal : t -> unit
(** [signal t] wakes the task that has waited longest, if there is one. You can
    call it with the mutex locked or unlocked. *)

val broadcast : t -> unit
(** [broadcast t] wakes all waiting tasks, in the order in which they arrived.
*)

val wait_evt : t -> Mutex.t -> unit Event.t
(** [wait_evt t mutex] is the event of {!wait}. Use it to wait for a limited
    time:

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

    In a choice:

    - [mutex] is locked again whichever alternative is performed, and also if
      the task is cancelled. This happens before the functions given to
      {!Concord.Event.wrap} run. While other tasks hold [mutex], the choice may
      therefore end later than its timeout.
    - No other alternative may wait with the same mutex, or lock it.
    - {!Concord.Event.poll} never performs it.
    - If the choice also has a {!loop_no_mutex_evt}, and this event woke the
      task in vain, a signal may have come meanwhile. The choice may then
      perform [wait_evt] without a signal.
    - {b Raises} [Sys_error] if [mutex] is not locked when the event is
      performed.
    - {b Raises} [Invalid_argument] if one choice has two such alternatives of
      the same mutex, or if another task unlocks [mutex] while the choice
      begins. *)

val waiters : t -> int
(** [waiters t] is the number of tasks waiting for a signal, for diagnosis.

    A cancelled task counts until it is unwound. A task in the function of
    {!loop_no_mutex} may count. *)

(** {1:no_mutex Without a mutex}

    Use these functions if the state is an [Atomic], which needs no mutex. First
    change the state, and then call {!broadcast}. If any one of the waiting
    tasks can use the change, {!signal} is enough. You can do both in any
    domain.

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
(** [loop_no_mutex t f] calls [f ()] until the result is [Some v], and returns
    [v]. After each [None] it waits for a wake-up, and then calls [f] again.

    It misses no wake-up, because the task enters the queue of [t] {e before} it
    calls [f]. If a wake-up comes while [f] runs, [f] is called again. [f] is
    called once, and once more after each wake-up, as in [Eio.Condition].

    A task doesn't use up a signal it doesn't need. If a signal may have come
    after [f] found its value, or before [f] raised, the signal goes to the next
    task.

    - {b Suspends} while [f ()] is [None], and where [f] does.
    - {b Cancelled} while suspended, also in [f], it raises the host's exception
      and has consumed no signal.
    - {b Order}: after each [None], the task goes to the end of the queue.
    - {b Cost}: O(1) and [f] for each call of [f]. The first call also enters
      the queue, even if [f] returns [Some v] at once.
    - {b Raises} [e] if [f] raises [e]. *)

val loop_no_mutex_evt : t -> (unit -> 'a option) -> 'a Event.t
(** [loop_no_mutex_evt t f] is the event of {!loop_no_mutex}, and is performed
    when [f ()] is [Some v].

    Here [f] must be short, and must neither suspend nor perform an effect. A
    choice also calls [f] where it may not wait, and twice after a wake-up in
    vain. Once [f] has returned [Some v] or raised [e], no other alternative is
    performed. If [f] raised [e], performing the event raises [e], where
    {!Concord.Event.wrap_handler} and {!Concord.Event.to_result} see it. *)

val wait_no_mutex : t -> unit
(** [wait_no_mutex t] waits for the next wake-up. Tasks are woken in the order
    in which they arrived, together with all others waiting for [t].

    It misses wake-ups from before it has begun to wait. If one comes just
    before the call, after you checked the state, it is lost. If you wait for a
    state, use {!loop_no_mutex}.

    - {b Suspends} until the wake-up. *)

val wait_no_mutex_evt : t -> unit Event.t
(** [wait_no_mutex_evt t] is the event of {!wait_no_mutex}.

    A choice begins to wait for it after its other alternatives. If the choice
    also has a {!loop_no_mutex_evt}, and this event woke the task in vain, it
    may miss a wake-up. {!Concord.Event.poll} never performs it. *)
