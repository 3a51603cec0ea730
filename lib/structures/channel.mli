(** Rendezvous channels: a value passes when a sender and a receiver meet.

    {b Stability}: stable.

    The channels of {!Concord.Event}, for tasks of any hosts, with everyday
    functions and an end.

    {[
      # let channel = Channel.create ()
      val channel : '_weak1 Event.channel = <abstr>
      # Tasks.both
          (fun () -> Channel.send channel "hello")
          (fun () -> Channel.receive channel)
      - : unit * string = ((), "hello")
    ]}

    An operation without a {b Suspends} line never suspends and performs no
    effect: signal handlers, finalisers and callbacks may use it. Without a
    {b Cost} line it is O(1). *)

type 'a t = 'a Event.channel
(** A channel for values of type ['a]. *)

exception Closed
(** The same exception for all structures that can be closed. In a choice
    {!next_evt} and {!Concord.Event.to_result} tell whose it is.

    Its printer ([Printexc.to_string]) says [Concord.Stream.Closed] where it
    does not know the structure, and that the others' is the same. It adds the
    structure that raised it last in the thread that prints, if that structure
    has a name or was made while waits are kept: which is the right one if it is
    printed before another one raises. Nothing is added for a choice that was
    closed while it waited. *)

val create : ?name:string -> unit -> 'a t
(** An open channel, in which no task waits. [name] is for reports and for the
    printer of {!Closed}. *)

val send : 'a t -> 'a -> unit
(** [send t v] gives [v] to a task that receives from [t].

    - {b Suspends} until there is one.
    - {b Cancelled} while suspended: no task received [v]. Once a receiver has
      [v], [send] returns even if cancelled.
    - {b Order}: senders are served in the order of their arrival, and so are
      receivers.
    - {b Cost}: O(1), also to withdraw (amortised).

    @raise Closed if [t] is closed before they meet. *)

val receive : 'a t -> 'a
(** [receive t] is a value that a task sends.

    - {b Suspends} until there is one.
    - {b Cancelled} while suspended: no sender's value was taken.
    - {b Order}, {b Cost}: as for {!send}.

    @raise Closed if [t] is closed before they meet. *)

val try_send : 'a t -> 'a -> bool
(** [try_send t v] gives [v] to a task that waits to receive, if there is one.
    Returns [true] if it did.

    @raise Closed if [t] is closed. *)

val try_receive : 'a t -> 'a option
(** [try_receive t] takes the value of a task that waits to send, if there is
    one.

    @raise Closed if [t] is closed. *)

val send_evt : 'a t -> 'a -> unit Event.t
(** The event of {!send}: {!Concord.Event.send}. Performing it raises {!Closed}
    as {!send} does. *)

val receive_evt : 'a t -> 'a Event.t
(** The event of {!receive}: {!Concord.Event.receive}. Performing it raises
    {!Closed} as {!receive} does. A choice between sending to and receiving from
    the same channel does not meet itself. *)

val close : 'a t -> unit
(** [close t] ends [t]: tasks that wait, and tasks that come later, get
    {!Closed}. To close again does nothing. O(n) for the [n] tasks that wait. *)

val is_closed : 'a t -> bool
(** Was {!close} called? *)

val waiters : 'a t -> int
(** How many senders and receivers wait, for diagnosis. One that was cancelled
    counts until it is unwound. *)

include Reader.S with type 'a t := 'a t
(** @inline *)

val add_seq : 'a t -> 'a Seq.t -> unit
(** [add_seq t seq] is {!send} of each value of [seq], which is forced each time
    that the one before has been received.

    - {b Suspends} where {!send} and [seq] do.
    - {b Cancelled} while suspended in {!send}: no task received that value.

    @raise Closed if [t] is closed before the end of [seq]. *)

val drain : 'a t -> 'a list
(** [drain t] receives from the tasks that wait to send when it looks, one after
    the other, the first one first. [[]] if there are none, also if [t] is
    closed. O(n). *)
