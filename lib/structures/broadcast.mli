(** Every subscriber sees every value.

    {b Stability}: stable.

    All subscriptions see the values in one order, whichever tasks sent them.
    Values that a subscription has not received yet are kept for it, for as long
    as the subscription is referenced. [send] doesn't suspend. A {!type-limit}
    changes either of these. A value that no subscription will receive is
    collected. (If only the latest value matters, use a {!Watch}.)

    An operation without a {b Suspends} line never suspends and performs no
    effect: signal handlers, finalisers and callbacks may use it. Without a
    {b Cost} line it is O(1).

    {[
      # let news = Broadcast.create ()
      val news : '_weak1 Broadcast.t = <abstr>
      # let reader = Broadcast.subscribe news
      val reader : '_weak1 Broadcast.subscription = <abstr>
      # Broadcast.send news "hello"; Broadcast.receive reader
      - : string = "hello"
    ]} *)

type 'a t
(** A broadcast of values of type ['a]. *)

exception Closed
(** The same exception for all structures that can be closed. In a choice
    {!next_evt} and {!Concord.Event.to_result} tell whose it is.

    Its printer ([Printexc.to_string]) says [Concord.Stream.Closed] where it
    does not know the structure, and that the others' is the same. It adds the
    structure that raised it last in the thread that prints, if that structure
    has a name or was made while waits are kept: which is the right one if it is
    printed before another one raises. Nothing is added for a choice that was
    closed while it waited. *)

(** {2 A limit for slow subscriptions}

    Without a limit one subscription that is never read keeps all values that
    are sent. With a limit, old values are dropped instead. A subscription that
    has missed some is told how many:

    {[
      # let prices = Broadcast.create ~limit:(Drop_oldest 2) ()
      val prices : '_weak2 Broadcast.t = <abstr>
      # let slow = Broadcast.subscribe prices
      val slow : '_weak2 Broadcast.subscription = <abstr>
      # Broadcast.add_seq prices (List.to_seq [ 10; 11; 12; 13; 14 ])
      - : unit = ()
      # Broadcast.receive slow
      Exception: Concord.Broadcast.Lagged(3)
      # Broadcast.receive slow
      - : int = 13
    ]}

    A subscriber that can do without the values it missed catches the exception
    and continues:

    {[
      # let rec follow show s =
          match Broadcast.iter show s with
          | () -> ()
          | exception Broadcast.Lagged _ -> follow show s
      val follow : ('a -> unit) -> 'a Broadcast.subscription -> unit = <fun>
    ]}

    A subscriber that can't do without them doesn't catch it: then its task ends
    with the exception, and the broadcast keeps nothing for it.

    If no value may be lost, use the limit [Wait]: the sender waits for the
    slowest subscription.

    {[
      # let orders = Broadcast.create ~limit:(Wait 2) ()
      val orders : '_weak3 Broadcast.t = <abstr>
      # Broadcast.with_subscription orders (fun s ->
            Broadcast.send orders "tea";
            Broadcast.send orders "milk";
            let full = not (Broadcast.try_send orders "jam") in
            (full, Broadcast.drain s))
      - : bool * string list = (true, ["tea"; "milk"])
    ]}

    Each subscription then counts until it is ended. If a reader stops, for
    example because it raised an exception, and its subscription isn't ended,
    the senders wait forever, even after the subscription was garbage collected.
    {!with_subscription} ends it however the reader ends. *)

(** How far a subscription may lag behind. *)
type limit =
  | Drop_oldest of int
      (** [Drop_oldest n]: the broadcast keeps the last [n] values, also those
          that all subscriptions have received, and drops older ones. While
          tasks are sending, a slow subscription may still receive values that
          are about to be dropped, at most one for each of these tasks. *)
  | Wait of int
      (** [Wait n]: {!send} suspends while there are [n] values that some
          subscription has not received. Without a subscription values are sent
          to nobody, at once. A subscription has to be ended by {!unsubscribe},
          because one that is lost holds the senders back forever. A report
          ([CONCORD_DEBUG]) then shows tasks that wait in [Broadcast.send], and
          how many subscriptions there are. *)

exception Lagged of int
(** What a subscription raises once, where it has missed so many values. It is
    at the oldest value that is kept then. That one is dropped next, so a reader
    that was too slow should catch up, for example by {!drain}: if it receives
    only one value for each that is sent, it misses one each time. The printer
    names the broadcast as that of {!Closed} does. *)

val create : ?name:string -> ?limit:limit -> unit -> 'a t
(** An open broadcast without subscriptions. [name] is for reports and for the
    printers of {!Closed} and {!Lagged}; its subscriptions are called by it too.
    Without [limit] no value is dropped.

    - {b Raises} [Invalid_argument] if the limit is less than 1. *)

val send : 'a t -> 'a -> unit
(** [send t v] gives [v] to every subscription. With [Drop_oldest] the oldest
    value is dropped where there would be more.

    - {b Suspends} only with [Wait n], while some subscription has not received
      [n] values.
    - {b Cancelled} while suspended: [v] was not sent, and no other sender loses
      its turn.
    - {b Order}: senders that wait are served in the order of arrival, and
      newcomers never overtake them.
    - {b Cost}: O(1), however many subscriptions there are; O(n) if tasks wait
      through [n] of them. [Drop_oldest] adds an allocation and two
      compare-and-sets. With [Wait] each value is counted: to receive it adds
      one compare-and-set, and a second one for the last subscription that does.

    If [send] has suspended, it may return a moment before [v] is there for
    other domains: {!try_receive} may not find it yet, and a subscription that
    is made then may still receive it.

    @raise Closed if [t] is closed. *)

val try_send : 'a t -> 'a -> bool
(** [try_send t v] is [true] and sends [v], or is [false] if {!send} would
    suspend. It is also [false] while another domain is sending the values of
    senders that waited, or is just receiving the value that frees a place.

    @raise Closed if [t] is closed. *)

val send_evt : 'a t -> 'a -> unit Event.t
(** The event of {!send}. Performing it raises {!Closed} as {!send} does. *)

val senders : 'a t -> int
(** How many tasks wait to send, for diagnosis. One that was cancelled counts
    until it is unwound. *)

val close : 'a t -> unit
(** [close t] ends [t]: to send raises {!Closed}; every subscription receives
    what was sent before, and then to receive raises {!Closed}. To close again
    does nothing. Tasks that wait to send raise {!Closed}, and their values were
    not sent. O(n) for the [n] tasks that wait. *)

val is_closed : 'a t -> bool
(** Was {!close} called? *)

(** {2 Receiving} *)

type 'a subscription
(** A place in the sequence of values. *)

val subscribe : 'a t -> 'a subscription
(** [subscribe t] receives what is sent from now on. It need not be ended,
    unless [t] has the limit [Wait]: use {!with_subscription} for that. *)

val unsubscribe : 'a subscription -> unit
(** [unsubscribe s] ends [s], whatever the limit. Tasks that wait through [s],
    and all that receive through it later, get {!Closed}. From then on [s] keeps
    no values and holds no sender back. To end it again does nothing. O(n) for
    the [n] tasks that wait through [s]; with [Wait] also for the values that
    [s] has not received, and for the senders that are resumed. *)

val with_subscription : 'a t -> ('a subscription -> 'b) -> 'b
(** [with_subscription t f] is [f s] with a new subscription [s], which is ended
    by {!unsubscribe} however [f] ends.

    - {b Suspends} where [f] does. {b Cancelled} meanwhile: [s] is ended.
    - {b Cost}: that of [f] and {!unsubscribe}.
    - {b Raises} [e] if [f s] raises [e]. *)

val receive : 'a subscription -> 'a
(** [receive s] is the next value. Several tasks may receive through one
    subscription: each value goes to one of them.

    - {b Suspends} until there is one.
    - {b Cancelled} while suspended: no value was received, and no other waiter
      loses its turn.
    - {b Order}: that of arrival.
    - {b Cost}: O(1), also to withdraw (amortised).

    @raise Closed if there is no value left, and the broadcast is closed.
    @raise Lagged
      once if values were dropped that [s] had not received. A task that waits
      can get it too, if other tasks send more values than the limit before it
      is served. *)

val try_receive : 'a subscription -> 'a option
(** [try_receive s] is the next value, if there is one, and no task waits for
    it; [None] also while another domain just hands out values of [s].

    @raise Closed as {!receive}.
    @raise Lagged as {!receive}. *)

val receive_evt : 'a subscription -> 'a Event.t
(** The event of {!receive}. Performing it raises {!Closed} and {!Lagged} as
    {!receive} does. *)

val waiters : 'a subscription -> int
(** How many tasks wait through this subscription, for diagnosis. One that was
    cancelled counts until it is unwound. *)

(** The functions that follow raise {!Lagged} as {!receive} does. To call one of
    them again continues behind the values that were missed. *)

include Reader.S with type 'a t := 'a subscription
(** @inline *)

val drain : 'a subscription -> 'a list
(** [drain s] is all values that are there for [s] when it looks, at once, the
    first one first. [[]] where {!try_receive} is [None] or raises {!Closed}.
    O(n).

    @raise Lagged as {!receive}. *)

val add_seq : 'a t -> 'a Seq.t -> unit
(** [add_seq t seq] is {!send} of each value of [seq]. Suspends where [seq] or
    {!send} does.

    @raise Closed if [t] is closed before the end of [seq]. *)
