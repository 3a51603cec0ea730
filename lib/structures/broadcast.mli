(** Messages delivered to every subscriber.

    {b Stability}: stable.

    Use a broadcast if each value should reach several tasks. If only the latest
    value matters, use a {!Watch}.

    {[
      # let news = Broadcast.create ()
      val news : '_weak1 Broadcast.t = <abstr>
      # let reader = Broadcast.subscribe news
      val reader : '_weak1 Broadcast.subscription = <abstr>
      # Broadcast.send news "hello"; Broadcast.receive reader
      - : string = "hello"
    ]}

    All subscriptions see the values in the same order, whichever tasks sent
    them. The broadcast keeps a value for each subscription that hasn't received
    it yet, as long as the subscription is referenced. A value is
    garbage-collected if no subscription will receive it. {!send} doesn't
    suspend, unless you set the {{!type-limit}limit} [Wait].

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    See also the pages on {{!/concord/lwt}Lwt}, {{!/concord/async}Async} and
    {{!/concord/picos}Picos}. *)

type 'a t
(** A broadcast of values of type ['a]. *)

exception Closed
(** The same exception as {!Stream.Closed}. *)

(** {1 Creating} *)

(** How far a subscription may lag behind. See {!section-slow}. *)
type limit =
  | Drop_oldest of int
      (** [Drop_oldest n] keeps the last [n] values, even if all subscriptions
          have received them, and drops older ones. While tasks are sending, a
          slow subscription may still receive values about to be dropped, at
          most one for each of these tasks. *)
  | Wait of int
      (** [Wait n] suspends {!send} while there are [n] values some subscription
          hasn't received. If there is no subscription, values are sent to no
          task, at once.

          You have to end each subscription by {!unsubscribe}, because a lost
          one blocks the senders forever. In that case, a report
          ([CONCORD_DEBUG]) shows tasks waiting in [Broadcast.send], and which
          task began the subscription that lags most, and where. *)

val create : ?name:string -> ?limit:limit -> unit -> 'a t
(** [create ()] returns an open broadcast without subscriptions.

    Reports and the printers of {!Closed} and {!Lagged} call it by its [name],
    and its subscriptions too. Without [limit], no value is dropped.

    - {b Raises} [Invalid_argument] if the limit is less than 1. *)

(** {1 Sending} *)

val send : 'a t -> 'a -> unit
(** [send t v] sends [v] to every subscription. With [Drop_oldest], it drops the
    oldest value if there would be too many.

    - {b Suspends} only with [Wait n], while some subscription has not received
      [n] values. Newcomers never overtake waiting senders.
    - {b Cost}: O(1), however many subscriptions there are, but O(n) if tasks
      wait in [n] of them. [Drop_oldest] adds an allocation and two
      compare-and-sets. With [Wait], each receive adds one compare-and-set, and
      the last subscription to receive the value needs a second one.

    If [send] has suspended, it may return a moment before other domains see
    [v]. For this reason, {!try_receive} may miss [v] briefly, and a
    subscription created then may still receive [v].

    - {b Raises} {!Closed} if [t] is closed. *)

val try_send : 'a t -> 'a -> bool
(** [try_send t v] sends [v] and returns [true], or returns [false] if {!send}
    would suspend.

    It also returns [false] while another domain is sending the values of
    waiting senders, or is receiving the value to make room.

    - {b Raises} {!Closed} if [t] is closed. *)

val send_evt : 'a t -> 'a -> unit Event.t
(** [send_evt t v] is the event of {!send}. Performing it raises {!Closed} as
    {!send} does. *)

val send_seq : 'a t -> 'a Seq.t -> unit
(** [send_seq t seq] sends each value of [seq].

    - {b Suspends} where [seq] and {!send} do.
    - {b Raises} {!Closed} if [t] is closed before the end of [seq]. *)

(** {1 Subscribing} *)

type 'a subscription
(** A position in the sequence of values. *)

val subscribe : 'a t -> 'a subscription
(** [subscribe t] returns a subscription to all values sent from now on.

    You don't need to end it, unless [t] has the limit [Wait]. In this case, use
    {!with_subscription}. *)

val with_subscription : 'a t -> ('a subscription -> 'b) -> 'b
(** [with_subscription t f] calls [f] with a new subscription, and ends the
    subscription when [f] returns, raises or is cancelled.

    - {b Suspends} where [f] does.
    - {b Raises} [e] if [f] raises [e]. *)

val unsubscribe : 'a subscription -> unit
(** [unsubscribe s] ends [s], with or without a limit.

    From then on, tasks receiving from [s] get {!Closed}, and so do tasks
    already waiting in [s]. The broadcast keeps no values for [s], and senders
    don't wait for it. A second call does nothing.

    - {b Cost}: O(n) for [n] tasks waiting in [s]. With [Wait], add the number
      of values [s] hasn't received, and of resumed senders. *)

(** {1 Receiving} *)

exception Lagged of int
(** [Lagged n] reports that a subscription has missed [n] values. It is raised
    once, and then the subscription continues with the oldest value still kept.

    This value is dropped next. If a reader was too slow, it should catch up,
    for example with {!drain}. If it receives only one value for each one sent,
    it misses a value each time. When printed, the exception names the broadcast
    as {!Closed} does. *)

val receive : 'a subscription -> 'a
(** [receive s] returns the next value. If several tasks receive from one
    subscription, each value goes to one of them.

    - {b Suspends} until there is a value.
    - {b Raises} {!Closed} if there is no value left, and the broadcast is
      closed.
    - {b Raises} {!Lagged} once if values were dropped before [s] received them.
      A waiting task can get it too, if other tasks send more values than the
      limit before it is served. *)

val try_receive : 'a subscription -> 'a option
(** [try_receive s] returns the next value, or [None] if there is none or other
    tasks wait for it. It also returns [None] while another domain is handing
    out values of [s].

    - {b Raises} {!Closed} as {!receive} does.
    - {b Raises} {!Lagged} as {!receive} does. *)

val receive_evt : 'a subscription -> 'a Event.t
(** [receive_evt s] is the event of {!receive}. Performing it raises {!Closed}
    and {!Lagged} as {!receive} does. *)

val drain : 'a subscription -> 'a list
(** [drain s] removes all values present for [s] at once and returns them, the
    first one first. It returns [[]] where {!try_receive} would return [None] or
    raise {!Closed}.

    - {b Raises} {!Lagged} as {!receive} does. *)

(** {!next}, {!iter}, {!fold} and {!to_seq} raise {!Lagged} too. If you call
    them again, they continue behind the missed values. *)

include Reader.S with type 'a t := 'a subscription
(** @inline *)

(** {1:slow A limit for slow subscriptions}

    Without a limit, an unread subscription makes the broadcast keep all values.
    With the limit [Drop_oldest], it drops old values instead. A subscription
    with missed values is told how many:

    {[
      # let prices = Broadcast.create ~limit:(Drop_oldest 2) ()
      val prices : '_weak2 Broadcast.t = <abstr>
      # let slow = Broadcast.subscribe prices
      val slow : '_weak2 Broadcast.subscription = <abstr>
      # Broadcast.send_seq prices (List.to_seq [ 10; 11; 12; 13; 14 ])
      - : unit = ()
      # Broadcast.receive slow
      Exception: Concord.Broadcast.Lagged(3)
      # Broadcast.receive slow
      - : int = 13
    ]}

    If the reader doesn't need the missed values, it catches the exception and
    continues:

    {[
      # let rec follow show s =
          match Broadcast.iter show s with
          | () -> ()
          | exception Broadcast.Lagged _ -> follow show s
      val follow : ('a -> unit) -> 'a Broadcast.subscription -> unit = <fun>
    ]}

    If the reader needs them, it doesn't catch the exception. Then its task ends
    with the exception, and the broadcast keeps nothing for it.

    If no value may be lost, use the limit [Wait]. Then the sender waits for the
    slowest subscription:

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

    With [Wait], each subscription counts until it is ended. If a reader stops
    without ending its subscription, for example because it raised an exception,
    the senders wait forever. They do so even after the subscription was
    garbage-collected. {!with_subscription} always ends the subscription. *)

(** {1 Closing} *)

val close : 'a t -> unit
(** [close t] marks the end of [t].

    From then on, {!send} raises {!Closed}. Every subscription still receives
    the values sent before. After the last one, receiving raises {!Closed} too.
    Waiting senders raise {!Closed}, and their values aren't sent. A second call
    does nothing. *)

val is_closed : 'a t -> bool
(** [is_closed t] is [true] once {!close} was called. *)

(** {1 Inspecting} *)

val waiters : 'a subscription -> int
(** [waiters s] is the number of tasks waiting in [s], for diagnosis. *)

val senders : 'a t -> int
(** [senders t] is the number of tasks waiting to send, for diagnosis. *)
