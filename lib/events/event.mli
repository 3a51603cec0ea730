(** A blocking operation as a value, which lets a task wait for one of several.

    {b Stability}: stable, except {!section-authors} ({!make}, {!make_by}),
    which may change in any release.

    Each blocking operation [x] of a structure has an event [x_evt]. There are
    two exceptions. Functions combining several operations, such as
    {!Mutex.protect}, have none. And instead of {!Concord.Lazy.force} there is
    {!Concord.Lazy.await_evt}, which doesn't compute. An event does nothing by
    itself. {!sync} performs it, {!poll} tries it without waiting, and {!select}
    performs one of several. Tasks of any host can perform an event, any number
    of times. For example, a task waits for an item here, but for at most 10 ms:

    {[
      # let box = Mvar.create 6
      val box : int Mvar.t = <abstr>
      # let next () =
          Event.select
            [
              Event.wrap (Mvar.take_evt box) (fun n -> Some (7 * n));
              Event.wrap (Event.timeout 0.01) (fun () -> None);
            ]
      val next : unit -> int option = <fun>
      # let first = next () in let second = next () in (first, second)
      - : int option * int option = (Some 42, None)
    ]}

    All names of Stdlib's [Event] are here too. The idea is from John Reppy's
    Concurrent ML. See also the pages on {{!/concord/stdlib}Stdlib},
    {{!/concord/eio}Eio}, {{!/concord/lwt}Lwt} and {{!/concord/async}Async}.

    {1 Guarantees of a choice}

    - {b Exactly one} alternative is performed. The others consume nothing and
      give nothing. This holds even if two choices on different domains meet in
      a rendezvous.
    - {b No bias}. If several alternatives are ready when the choice begins,
      each of them is equally likely. Use {!prefer} for a fixed priority, or
      {!loop} to take turns.
    - {b Order}. A waiting choice takes its turn in the queue of each
      alternative, as other tasks do. (If a {!Condition.loop_no_mutex_evt} wakes
      it in vain, it goes to the end of its queues.)
    - {b Cancelled} while suspended, a choice performs no alternative.
    - {b Cost}: O(1) for each alternative, and amortised O(1) to withdraw it.
      But in a choice of [n] alternatives, the cost is O(n) for each event of a
      {!Concord.Barrier}, for each event of a channel the choice both sends to
      and receives from, and for each {!wrap_abort} inside another one. *)

type +'a t
(** An operation that returns a value of type ['a] when it is performed. *)

type 'a event = 'a t
(** The name of the type in Stdlib's [Event]. *)

(** {1 Performing events} *)

val sync : 'a t -> 'a
(** [sync t] performs [t] and returns its value.

    - {b Suspends} while [t] has to wait. Cancellation, order and cost are the
      operation's.
    - {b Raises} [e] if the operation, or a function given to {!wrap}, raises
      [e]. *)

val select : 'a t list -> 'a
(** [select ts] waits until one of [ts] can be performed, and performs exactly
    this one. It is [sync (choose ts)].

    - {b Suspends} while all of [ts] have to wait.
    - {b Raises} [e] as {!sync}. *)

val poll : 'a t -> 'a option
(** [poll t] performs [t] if it doesn't have to wait. Otherwise it does nothing
    and returns [None].

    - {b Suspends} only where a function given to {!wrap}, {!wrap_abort} or
      {!guard} does.
    - {b Raises} [e] as {!sync}. *)

val sync_before : float -> 'a t -> 'a option
(** [sync_before seconds t] performs [t] and returns [Some v], or returns [None]
    if [t] has to wait for longer than [seconds].

    In the second case, [t] was not performed. If [seconds] is not positive, it
    is {!poll}.

    {[
      # let mutex = Mutex.create () in
        Mutex.lock mutex;
        Event.sync_before 0.01 (Mutex.lock_evt mutex)
      - : unit option = None
    ]}

    - {b Suspends} for at most [seconds]. It may take longer if the functions
      given to {!wrap} and {!wrap_abort} suspend, or if {!Condition.wait_evt}
      has to lock its mutex again.
    - {b Cancelled} while suspended, it has not performed [t].
    - {b Cost}: a choice and a timeout.
    - {b Raises} [Invalid_argument] if [seconds] is not a number. *)

(** {1 Building events} *)

val always : 'a -> 'a t
(** [always v] is always ready, and its value is [v]. *)

val never : 'a t
(** [never] is never ready. [sync never] waits until the host cancels the task.

    Threads, domains, and Domainslib and Async tasks can't be cancelled, so
    there it waits forever. Only if the whole program has nothing else to do,
    the task gets {!Concord.Tools.Suspend.Never_resumed}. *)

val choose : 'a t list -> 'a t
(** [choose ts] performs exactly one of [ts]. [choose []] is {!never}.

    A closed structure and a failed promise count as ready. The choice may then
    raise its exception. {!to_result} tells you which alternative raised it.

    - {b Cost}: O(1), and O(n) to perform a choice of [n] alternatives. *)

val wrap : 'a t -> ('a -> 'b) -> 'b t
(** [wrap t f] performs [t], and then returns [f v] for its value [v].

    [f] runs in the task performing the event. If the task suspends in [f] and
    is cancelled there, [t] has already been performed. *)

val wrap_abort : 'a t -> (unit -> unit) -> 'a t
(** [wrap_abort t f] is [t], but it calls [f ()] if [t] is not performed. It
    isn't performed if another alternative is performed, if the task is
    cancelled while it waits, or if {!poll} returns [None].

    [f] runs in the same task, after the functions given to {!wrap}, even if one
    of them raises. If several such functions raise, the others still run, and
    then the first exception is raised. *)

val guard : (unit -> 'a t) -> 'a t
(** [guard f] is the event [f ()], created anew for each {!sync}, {!select} and
    {!poll}, in the calling task. If [f] raises, they raise too, and no
    alternative is performed. *)

(** {1 Time}

    Timers use the monotonic clock and never fire early. They need no thread
    each. If a timer is no longer needed, it is forgotten at once. Setting and
    cancelling one takes O(log n) time for [n] pending timers.

    One thread of the main domain serves all timers. It starts with the first
    timeout, or when the program spawns its first domain, and it doesn't delay
    the end of the program. If the main domain computes, and no [Concord_fifo]
    task takes turns there, a timeout may be 50 ms or even 100 ms late (one or
    two turns of OCaml's threads). If several threads compute there, it may be
    later.

    The thread needs two descriptors. If the system has no thread or no
    descriptor left, setting the timeout raises [Sys_error] or
    [Unix.Unix_error], and nothing has changed. The next timeout tries again. *)

val timeout : float -> unit t
(** [timeout seconds] is ready when the task has waited for it for [seconds]. It
    is ready at once if [seconds] is not positive, and never if it is
    [infinity].

    A due timeout competes like any other ready alternative. If you prefer the
    others, use {!sync_before}, {!prefer} or {!poll}. [sync (timeout seconds)]
    sleeps.

    - {b Raises} [Invalid_argument] if [seconds] is not a number. *)

val at : float -> unit t
(** [at time] is ready at [time], in seconds as [Unix.gettimeofday] returns
    them. If the clock is set while a task waits, the task doesn't notice.

    - {b Raises} [Invalid_argument] if [time] is not a number. *)

(** {1 Rendezvous channels}

    These functions are here because Stdlib's [Event] has them. In new code, use
    {!Concord.Channel}, which calls them [create], [send_evt] and [receive_evt],
    as other structures do. *)

type 'a channel = 'a Rendezvous.t
(** A channel for values of type ['a]. *)

val new_channel : unit -> 'a channel
(** [new_channel] is {!Concord.Channel.create}. *)

val send : 'a channel -> 'a -> unit t
(** [send channel v] gives [v] to a task performing {!receive}.

    Both are performed together. Performing it raises {!Concord.Channel.Closed}
    if the channel is closed. Waiting tasks are served in the order in which
    they arrived. *)

val receive : 'a channel -> 'a t
(** [receive channel] returns the value of a task performing {!send}.

    Both are performed together. Performing it raises {!Concord.Channel.Closed}
    if the channel is closed. *)

(** {1 Priorities, stopping and loops} *)

val prefer : 'a t list -> 'a t
(** [prefer ts] performs the first ready one of [ts].

    If none is ready, it waits for the first one to become ready, as {!choose}
    does. In a choice with others, [prefer ts] is as likely as each of them.

    {[
      # let urgent = Mailbox.create () and others = Mailbox.create () in
        let next = [ Mailbox.take_evt urgent; Mailbox.take_evt others ] in
        Mailbox.add others "b";
        Mailbox.add urgent "a";
        let first = Event.sync (Event.prefer next) in
        let second = Event.sync (Event.prefer next) in
        (first, second, Event.poll (Event.prefer next))
      - : string * string * string option = ("a", "b", None)
    ]} *)

val unless : 'stop t -> 'a t -> 'a option t
(** [unless stop t] returns [Some v] if [t] is performed with the value [v], and
    [None] if [stop] is performed instead.

    If both are ready, it performs [stop] and not [t]. If none is ready, it
    waits for the first one to become ready.

    For example, a service takes jobs until it is told to stop. The remaining
    jobs stay in the queue:

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
      # Mailbox.add jobs (fun () -> print_endline "a job");
        Mailbox.add jobs (fun () -> Promise.fill stopped ());
        Mailbox.add jobs (fun () -> print_endline "too late");
        serve ()
      a job
      - : string = "stopped"
      # Mailbox.length jobs
      - : int = 1
    ]}

    Most often, [stop] is the event of a {!Promise} or a {!Concord.Latch},
    because these stay ready. In a choice with others, [unless stop t] is as
    likely as each of them.

    - {b Raises} [e] if [stop] or [t] raises [e], for example if [stop] is the
      event of a failed promise. *)

val loop : 'a t list -> ('a -> 'b option) -> 'b
(** [loop ts f] performs one of [ts] in each round and calls [f v] for its value
    [v], until [f v] is [Some w]. Then it returns [w].

    {[
      # let numbers = Mailbox.create () and sum = ref 0 in
        Mailbox.add_seq numbers (Seq.take 9 (Seq.ints 1));
        Event.loop [ Mailbox.take_evt numbers ] (fun n ->
            sum := !sum + n;
            if n = 9 then Some !sum else None)
      - : int = 45
    ]}

    It differs from calling {!select} in each round in two ways:

    - {b It takes turns.} Each round tries the alternatives in their order,
      beginning behind the one last found ready. If there are [n] alternatives,
      one that is always ready is performed at least once in [n] rounds. The
      random choices of {!select} don't guarantee this.
    - {b It allocates less.} It examines [ts] once, so a round allocates nothing
      for its alternatives until it has to wait. (A {!guard}, {!timeout} or
      {!at} is created anew for each round. In this case, the others are tried
      first.)

    - {b Suspends} in each round where {!select} does, and in [f].
    - {b Cancelled} while suspended, a round has performed nothing.
    - {b Order}: between rounds, the task is in no queue. If a round has to
      wait, the task goes to the end of each queue.
    - {b Cost}: a choice in each round. *)

(** {1 Exceptions}

    A choice raises the exception of the alternative it performed. But the
    exception doesn't say which alternative this was. For example,
    {!Concord.Stream.Closed} is the same for all queues. Let each alternative
    turn its own exceptions into values. (If you only need the end of a queue,
    use [next_evt], which returns [None].)

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
(** [wrap_handler t f] is [t], but it returns [f e] if performing [t] raises
    [e]. [f] runs in the task performing the event, and may raise.

    - [f] handles the exceptions of the operations in [t], and of the functions
      given to {!wrap} in [t].
    - [f] doesn't handle the functions given to {!wrap_abort}, nor anything
      raised before an operation is performed. Examples are the cancellation of
      a waiting task, or an exception of {!guard}.
    - If a function given to {!wrap} in [t] is cancelled, [f] is called. Check
      {!Concord.Tasks.is_cancelled} there, or put the handler around the
      operation alone.
    - {b Cost}: O(1). *)

val to_result : 'a t -> ('a, exn) result t
(** [to_result t] returns [Ok v] if [t] returns [v]. It returns [Error e] where
    the function of {!wrap_handler} would be called with [e]. *)

(** {1:authors For authors of structures} *)

val make : ('t, 'x, 'a) Structure_kit.operation -> 't -> 'x -> 'a t
(** [make operation t arg] is the event of an operation with its argument, as
    {!Concord.Tools.Structure_kit.wait} performs it.

    While a choice enlists its alternatives, it may find one of them ready. In
    this case, it withdraws the others. If another task was faster at the ready
    one, the choice begins again with the same [arg]. If a waiter has refused a
    value meanwhile, the value mustn't be lost. It has to be there for the next
    attempt, or go to the next waiter, or be remembered in [arg]. *)

(** How {!make_by} treats an operation whose step returns a ['b] and whose event
    returns an ['a]. *)
type ('b, 'a) policy =
  | Last : ('a, 'a) policy
      (** A choice enlists the operation after the others. It never withdraws it
          because another one is ready. *)
  | Finish : ('b -> 'a) -> ('b, 'a) policy
      (** The resumed task calls this function to finish the operation, before
          any function of the user. The function may suspend and raise. *)
  | Last_and_finish : ('b -> 'a) -> ('b, 'a) policy
      (** {!Last} and {!Finish} together. *)
  | Once : ('a, 'a) policy
      (** This is for a structure that counts its waiters, as {!Concord.Barrier}
          does. If a choice has the operation several times for one structure,
          it enlists the operation once, with one of its [arg]s. This takes O(n)
          time for [n] alternatives. *)
  | Tentative : ('a -> bool) -> ('a, 'a) policy
      (** This is for a structure that has to resume a waiter before it knows
          whether the operation will be performed. It may therefore resume the
          waiter in vain.

          The resumed task calls the function before anything else. If it
          returns [false], the operation was not performed, and the event begins
          again with the same [arg]. A choice then enters its other structures
          anew, but its timeouts keep their deadlines. The function may suspend.
          If it raises, the operation was not performed, and the event ends as
          if it was cancelled. *)

val make_by :
  ('b, 'a) policy -> ('t, 'x, 'b) Structure_kit.operation -> 't -> 'x -> 'a t
(** [make_by policy operation t arg] does the same as {!make}, but follows
    [policy]. *)

(**/**)

(** For {!Condition} only. *)

val wrap_withdraw : 'a t -> (unit -> unit) -> 'a t
(** [wrap_withdraw t f] does the same as {!wrap_abort}, but [f] runs before the
    functions given to {!wrap}.

    It is for an operation that has to undo something before the user's
    functions run. [f] also runs if an attempt of an operation inside raises,
    because the operation was chosen but not performed. *)

(** For {!Concord.Tools.Monadic} and [concord-schedulers] only. *)

type 'a simple =
  | Simple : {
      operation : ('t, 'x, 'b) Structure_kit.operation;
      structure : 't;
      arg : 'x;
      result : 'b -> 'a;  (** It does not suspend. *)
    }
      -> 'a simple
  | Then : 'b t * ('b -> 'a) -> 'a simple
      (** {!sync} of the event, and then the function, which may suspend. *)

val simple : 'a t -> 'a simple option
(** [simple t] returns the one operation [t] waits for, and its continuation.

    It returns [None] for a choice and for other events only {!sync} can
    perform. See {!Concord.Tools.Monadic}. *)

val rounds : 'a t list -> unit -> 'a
(** [rounds ts] returns a function to perform one round of {!loop}. Only one
    task at a time may call it. *)
