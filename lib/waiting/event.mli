(** A blocking operation as a value, and choice among several.

    An event can be performed later, by tasks of any host, any number of times:
    {!sync} waits for it, {!poll} tries it now, {!select} waits for one of
    several. Every blocking operation [x] of every structure has its event
    [x_evt]. All that Stdlib's [Event] has is here under the same names. (The
    idea is Reppy's, in Concurrent ML.)

    {[
      # let box = Mvar.create 6
      val box : int Mvar.t = <abstr>
      # let answer = Event.wrap (Mvar.take_evt box) (fun n -> 7 * n)
      val answer : int Event.t = <abstr>
      # Event.sync answer
      - : int = 42
      # Event.poll answer
      - : int option = None
    ]}

    {2 What a choice promises}

    - {b One}. Exactly one alternative is performed, also where both sides of a
      rendezvous are choices, of tasks on different domains. The others consume
      nothing and give nothing.
    - {b No bias}. Of the alternatives that are ready when it begins, each is as
      likely as any other.
    - {b Order}. A choice that waits takes its turn in the queue of each
      alternative, as any other waiter there. (A {!Barrier} that wakes it in
      vain makes it take new places.)
    - {b Cancelled} while suspended: no alternative was or will be performed.
    - {b Cost}: O(1) for each alternative, also to withdraw (amortised). *)

type +'a t
(** An operation that gives a value of type ['a] once it is performed. *)

type 'a event = 'a t
(** Its name in Stdlib's [Event]. *)

val sync : 'a t -> 'a
(** [sync t] performs [t].

    - {b Suspends} while [t] must wait; cancellation, order and cost are those
      of the operation.
    - {b Raises} [e] if the operation, or a function given to {!wrap}, raises
      [e]. *)

val select : 'a t list -> 'a
(** [select ts] is [sync (choose ts)]: it waits until one of [ts] can be
    performed, and performs exactly that one. Suspends and raises as {!sync}. *)

val poll : 'a t -> 'a option
(** [poll t] performs [t] if that needs no waiting; else it does nothing and is
    [None]. Suspends only where a function given to {!wrap}, {!wrap_abort} or
    {!guard} does.

    - {b Raises} [e] as {!sync}. *)

val sync_before : float -> 'a t -> 'a option
(** [sync_before seconds t] is [Some (sync t)], unless [t] must wait for longer
    than [seconds]: then [t] was not performed and the result is [None].

    - {b Suspends} for no longer than that, apart from what runs after the
      choice: functions given to {!wrap} and {!wrap_abort}, and locking the
      mutex of {!Condition.wait_evt}. {!poll} if [seconds] is not positive.
    - {b Cancelled} while suspended: [t] was not performed.
    - {b Cost}: that of a choice, and of a timeout.
    - {b Raises} [Invalid_argument] if [seconds] is not a number. *)

(** {2 Building events} *)

val always : 'a -> 'a t
(** [always v] is ready at once, with [v]. *)

val never : 'a t
(** An event that is never ready. *)

val choose : 'a t list -> 'a t
(** [choose ts] performs exactly one of [ts]; [choose []] is {!never}. A
    structure that is closed, or a promise that failed, counts as ready: the
    choice may raise that exception. O(1), and O(n) for [n] alternatives to
    perform it. *)

val wrap : 'a t -> ('a -> 'b) -> 'b t
(** [wrap t f] performs [t], then gives [f v] for its value [v]. [f] runs in the
    task that performs the event. The task may suspend in [f], and be cancelled
    there; [t] has been performed then. *)

val wrap_abort : 'a t -> (unit -> unit) -> 'a t
(** [wrap_abort t f] is [t]; but when an alternative that is not in [t] was
    performed instead, or the task was cancelled while it waited, or {!poll} is
    [None], [f ()] runs in the task: after the functions given to {!wrap}, also
    if one of these raises. If one of several such functions raises, the others
    run all the same, and then the first exception is raised. *)

val guard : (unit -> 'a t) -> 'a t
(** [guard f] is the event [f ()], made anew for each {!sync}, {!select} and
    {!poll}, in the task that calls these. If [f] raises, so do they, and no
    alternative was performed. *)

(** {2 Time}

    Timers run on the monotonic clock, and never fire early. They cost no thread
    each, and one that is not needed any more is forgotten at once. To set and
    to forget one is O(log n), for [n] that are pending.

    One thread of the main domain serves them all. It is started by the first
    timeout, or when the program spawns its first domain, and does not delay the
    end of the program. While the main domain computes, and no task of
    [Concord_fifo] takes turns there, a timeout may be late by 50 ms or two
    times that. *)

val timeout : float -> unit t
(** [timeout seconds] is ready when [seconds] have passed since the task began
    to wait for it: at once if that is not positive, never if it is [infinity].
    A timeout that is due competes like any other alternative that is ready: to
    prefer the others use {!sync_before}, or {!poll}. [sync (timeout seconds)]
    sleeps.

    - {b Raises} [Invalid_argument] if [seconds] is not a number. *)

val at : float -> unit t
(** [at time] is ready from [time] on, in seconds as [Unix.gettimeofday] gives
    them. A task that waits for it does not notice if the clock is set.

    - {b Raises} [Invalid_argument] if [time] is not a number. *)

(** {2 Rendezvous channels}

    As in Stdlib's [Event]; {!Channel} has the same channels with everyday
    functions. *)

type 'a channel = 'a Rendezvous.t

val new_channel : unit -> 'a channel
(** {!Channel.create}. *)

val send : 'a channel -> 'a -> unit t
(** [send channel v] is performed together with a {!receive} of another task.
    Performing it raises {!Channel.Closed} if the channel is closed. Waiters are
    served in the order of their arrival. *)

val receive : 'a channel -> 'a t
(** [receive channel] is performed together with a {!send} of another task, and
    gives what that sends. Performing it raises {!Channel.Closed} likewise. *)

(** {2 For authors of structures} *)

val make :
  ?last:bool -> ('t, 'x, 'a) Structure_kit.operation -> 't -> 'x -> 'a t
(** [make operation t arg] is the event of an operation with its argument, as
    {!Concord.Structure_kit.wait} performs it.

    A choice may find an alternative ready while it enlists the others. Then it
    withdraws these; and if another task was faster at the ready one, the choice
    begins again, with the same [arg]. What a waiter refused meanwhile must not
    be lost: it is still there for [attempt], or went to the next waiter, or
    else [arg] must remember it. With [~last:true] the operation is enlisted
    after those without, so that this does not happen to it. *)

val make_with :
  ?last:bool ->
  finish:('a -> 'b) ->
  ('t, 'x, 'a) Structure_kit.operation ->
  't ->
  'x ->
  'b t
(** As {!make}, for an operation whose last part the resumed task has to do:
    [finish v] runs in the task, before any function of the user. It may
    suspend, and raise. *)

val make_tentative :
  confirm:('a -> bool) ->
  ('t, 'x, 'a) Structure_kit.operation ->
  't ->
  'x ->
  'a t
(** As {!make}, for a structure that has to resume a waiter before it knows
    whether the operation will be performed, and so may resume it in vain. The
    resumed task calls [confirm v] before anything else. [false]: the operation
    was not performed, and the event begins again, with the same [arg]: a choice
    takes new places in the other structures, and its timeouts keep their
    deadlines. [confirm] may suspend; if it raises, the operation was not
    performed, and the event ends as if it was cancelled. *)

val wrap_withdraw : 'a t -> (unit -> unit) -> 'a t
(** {!wrap_abort}, but the function runs before those given to {!wrap}: for an
    operation that has to undo something before the user's functions look. *)

(** {2 For authors of other styles} *)

type 'a simple =
  | Simple : {
      operation : ('t, 'x, 'b) Structure_kit.operation;
      structure : 't;
      arg : 'x;
      result : 'b -> 'a;  (** Does not suspend. *)
    }
      -> 'a simple
  | Then : 'b t * ('b -> 'a) -> 'a simple
      (** {!sync} of the event, then the function, which may suspend. *)

val simple : 'a t -> 'a simple option
(** The one operation to wait for, and what to do then; [None] for a choice and
    other events, which {!sync} performs. See {!Monadic}. *)
