(** A blocking operation as a value, and choice among several.

    {b Stability}: stable, but for {!section-authors} ({!make}, {!make_by}),
    which may change in any release.

    An event can be performed later, by tasks of any host, any number of times:
    {!sync} waits for it, {!poll} tries it now, {!select} waits for one of
    several. Every blocking operation [x] of every structure has its event
    [x_evt]. All names of Stdlib's [Event] are here. (The idea is Reppy's.)

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
      likely as any other ({!prefer} and {!loop} have an order).
    - {b Order}. A choice that waits takes its turn in the queue of each
      alternative, as others there. (A {!Barrier} or
      {!Condition.loop_no_mutex_evt} that wakes it in vain gives it new places.)
    - {b Cancelled} while suspended: no alternative was or will be performed.
    - {b Cost}: O(1) for each alternative, also to withdraw (amortised). But in
      one choice of [n] of them, it is O(n) for each event of a {!Barrier}, for
      each event of a channel that the choice both sends to and receives from,
      and for each {!wrap_abort} in a nest of these. *)

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
(** An event that is never ready: [sync never] and [select []] wait until the
    host cancels the task. Threads, domains, and the tasks of Domainslib and
    Async are never cancelled, and wait for ever, as does a fiber or promise
    that nobody cancels. Only where the whole program has nothing else is the
    task told, by {!Concord.Tools.Suspend.Never_resumed}. *)

val choose : 'a t list -> 'a t
(** [choose ts] performs exactly one of [ts]; [choose []] is {!never}. A
    structure that is closed, or a promise that failed, counts as ready: the
    choice may raise that exception ({!to_result} tells whose it was). O(1), and
    O(n) for [n] alternatives to perform it. *)

val wrap : 'a t -> ('a -> 'b) -> 'b t
(** [wrap t f] performs [t], then gives [f v] for its value [v]. [f] runs in the
    task that performs the event. The task may suspend in [f], and be cancelled
    there; [t] has been performed then. *)

val wrap_abort : 'a t -> (unit -> unit) -> 'a t
(** [wrap_abort t f] is [t]; but when an alternative that is not in [t] was
    performed instead, or the task was cancelled while it waited, or {!poll} is
    [None], [f ()] runs in the task: after the functions given to {!wrap}, also
    if one of these raises. If one of several such functions raises, or a signal
    handler does meanwhile, the others run all the same, and then the first
    exception is raised. *)

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
    times that. If the thread cannot be started, because no thread or no
    descriptor is left (it needs two), whatever sets that timeout raises
    [Sys_error] or [Unix.Unix_error] and nothing has changed. The next timeout
    tries again. *)

val timeout : float -> unit t
(** [timeout seconds] is ready when [seconds] have passed since the task began
    to wait for it: at once if that is not positive, never if it is [infinity].
    A timeout that is due competes like any other alternative that is ready: to
    prefer the others use {!sync_before}, {!prefer} or {!poll}.
    [sync (timeout seconds)] sleeps.

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

(** {2 Several at once} *)

val prefer : 'a t list -> 'a t
(** [prefer ts] performs the first of [ts] that needs no waiting. If all must
    wait, it waits as {!choose} does, for the one that comes first. In a choice
    with others, [prefer ts] is as likely as each of them.

    {[
      # let urgent = Mailbox.create () and others = Mailbox.create () in
        let next = [ Mailbox.take_evt urgent; Mailbox.take_evt others ] in
        Mailbox.put others "b";
        Mailbox.put urgent "a";
        let first = Event.sync (Event.prefer next) in
        let second = Event.sync (Event.prefer next) in
        (first, second, Event.poll (Event.prefer next))
      - : string * string * string option = ("a", "b", None)
    ]} *)

val unless : 'stop t -> 'a t -> 'a option t
(** [unless stop t] is [Some v] if [t] is performed with the value [v], and
    [None] if [stop] is performed instead. If both are ready when the task
    looks, [stop] is performed, and [t] is not. If the task has to wait, it is
    the one that comes first. For example, a service takes jobs until it is told
    to stop. Jobs that are left stay in the queue:

    {[
      # let jobs : (unit -> unit) Mailbox.t = Mailbox.create ()
      val jobs : (unit -> unit) Mailbox.t = <abstr>
      # let stopped : unit Promise.t = Promise.create ()
      val stopped : unit Promise.t = <abstr>
      # let job = Event.unless (Promise.await_evt stopped) (Mailbox.take_evt jobs)
      val job : (unit -> unit) option Event.t = <abstr>
      # let rec serve () =
          match Event.sync job with
          | Some job -> job (); serve ()
          | None -> "stopped"
      val serve : unit -> string = <fun>
      # Mailbox.put jobs (fun () -> print_endline "a job");
        Mailbox.put jobs (fun () -> Promise.fill stopped ());
        Mailbox.put jobs (fun () -> print_endline "too late");
        serve ()
      a job
      - : string = "stopped"
      # Mailbox.length jobs
      - : int = 1
    ]}

    [stop] is most often the event of a {!Promise} or a {!Latch}, because these
    stay ready.

    - {b Raises} what [stop] or [t] raises: a promise that failed raises. In a
      choice with others, the event is as likely as each of them ({!prefer}). *)

val loop : 'a t list -> ('a -> 'b option) -> 'b
(** [loop ts f] performs one of [ts] in each round, and calls [f v] for its
    value [v], until that is [Some w]: then it returns [w].

    It differs from a {!select} in each round in two ways. It keeps its place in
    [ts]: a round looks at the alternatives in turn, beginning behind the one
    that an earlier round has found ready. So an alternative that is ready all
    the time is performed at least once in as many rounds as there are
    alternatives, where the draws of {!select} promise nothing. And what [ts]
    consist of is found out once, so that a round costs no memory for its
    alternatives before it has to wait. (Except for a {!guard}, and so for
    {!timeout} and {!at}, which are made anew for each round. The others are
    looked at first.)

    - {b Suspends} in each round where {!select} does, and in [f].
    - {b Cancelled} while suspended: that round has performed nothing.
    - {b Order}: between rounds the task waits nowhere. It comes to the end of
      each queue in each round that waits.
    - {b Cost}: that of a choice in each round.

    {[
      # let numbers = Mailbox.create () and sum = ref 0 in
        Mailbox.add_seq numbers (Seq.take 9 (Seq.ints 1));
        Event.loop [ Mailbox.take_evt numbers ] (fun n ->
            sum := !sum + n;
            if n = 9 then Some !sum else None)
      - : int = 45
    ]} *)

(** {2 Exceptions}

    A choice raises what the alternative that it performed raises; but the
    exception does not say which one that was: {!Stream.Closed} is the same for
    all. So each alternative turns its own exceptions into values. (For the end
    of a queue alone there is [next_evt], which gives [None].)

    {[
      # let jobs : string Stream.t = Stream.create 1
      val jobs : string Stream.t = <abstr>
      # let orders : string Stream.t = Stream.create 1
      val orders : string Stream.t = <abstr>
      # let from name stream =
          Event.wrap_handler
            (Event.wrap (Stream.take_evt stream) (fun item -> name ^ ": " ^ item))
            (function Stream.Closed -> "no more " ^ name | e -> raise e)
      val from : string -> string Stream.t -> string Event.t = <fun>
      # Stream.close orders
      - : unit = ()
      # Event.select [ from "jobs" jobs; from "orders" orders ]
      - : string = "no more orders"
    ]} *)

val wrap_handler : 'a t -> (exn -> 'a) -> 'a t
(** [wrap_handler t f] is [t]; but if an operation in [t], or a function given
    to {!wrap} in it, raises [e], the value is that of [f e], which runs in the
    task that performs the event, and may raise. [f] is not called for what
    raises while nothing is performed: the cancellation of a task that waits,
    and the function of a {!guard}; nor for the functions of {!wrap_abort}. It
    is called for a cancellation in a function given to {!wrap} in [t]: after
    that use {!Concord.Tasks.is_cancelled}, or put the handler around the
    operation alone. O(1). *)

val to_result : 'a t -> ('a, exn) result t
(** [to_result t] gives [Ok v] where [t] gives [v], and [Error e] where the
    function of {!wrap_handler} would be called with [e]. *)

(** {2:authors For authors of structures} *)

val make : ('t, 'x, 'a) Structure_kit.operation -> 't -> 'x -> 'a t
(** [make operation t arg] is the event of an operation with its argument, as
    {!Concord.Tools.Structure_kit.wait} performs it.

    A choice may find an alternative ready while it enlists the others. Then it
    withdraws these; and if another task was faster at the ready one, the choice
    begins again, with the same [arg]. What a waiter refused meanwhile must not
    be lost: it is still there for the next attempt, or went to the next waiter,
    or else [arg] must remember it. *)

(** What an operation needs besides, whose step gives a ['b] and whose event an
    ['a]. *)
type ('b, 'a) policy =
  | Last : ('a, 'a) policy
      (** A choice enlists it after the others, so that it never withdraws it
          because another one is ready. *)
  | Finish : ('b -> 'a) -> ('b, 'a) policy
      (** The last part, which the resumed task has to do: it runs in the task,
          before any function of the user. It may suspend, and raise. *)
  | Last_and_finish : ('b -> 'a) -> ('b, 'a) policy
  | Tentative : ('a -> bool) -> ('a, 'a) policy
      (** For a structure that has to resume a waiter before it knows whether
          the operation will be performed, and so may resume it in vain. The
          resumed task calls the function before anything else. [false]: the
          operation was not performed, and the event begins again, with the same
          [arg]. A choice takes new places in the other structures then, and its
          timeouts keep their deadlines. The function may suspend. If it raises,
          the operation was not performed, and the event ends as if it was
          cancelled. *)
  | Tentative_once : ('a -> bool) -> ('a, 'a) policy
      (** The same, for a structure that counts its waiters, as {!Barrier}. A
          choice that has the operation several times for one structure enlists
          it once, with one of its [arg]s. O(n) for [n] alternatives. *)

val make_by :
  ('b, 'a) policy -> ('t, 'x, 'b) Structure_kit.operation -> 't -> 'x -> 'a t
(** As {!make}, by a policy. *)

(**/**)

(** For {!Condition} only. *)

val wrap_withdraw : 'a t -> (unit -> unit) -> 'a t
(** {!wrap_abort}, but the function runs before those given to {!wrap}: for an
    operation that has to undo something before the user's functions look. It
    also runs if an attempt of an operation inside raises: that one is chosen,
    but was not performed. *)

(** For {!Concord.Tools.Monadic} and [concord-schedulers] only. *)

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
    other events, which {!sync} performs. See {!Concord.Tools.Monadic}. *)

val rounds : 'a t list -> unit -> 'a
(** [rounds ts] is a function that performs a round of {!loop}. One task at a
    time may call it. *)
