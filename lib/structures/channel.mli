(** A channel without a buffer. A value passes when a sender and a receiver
    meet.

    {b Stability}: stable.

    Use a channel if the sender should know its value was received. These are
    the channels of {!Concord.Event}, for tasks of any hosts, with everyday
    functions, and you can close them.

    {[
      # let channel = Channel.create ()
      val channel : '_weak1 Event.channel = <abstr>
      # Tasks.both
          (fun () -> Channel.send channel "hello")
          (fun () -> Channel.receive channel)
      - : unit * string = ((), "hello")
    ]}

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    See also the pages on {{!/concord/stdlib}Stdlib}, {{!/concord/eio}Eio} and
    {{!/concord/domainslib}Domainslib}. *)

type 'a t = 'a Event.channel
(** A channel for values of type ['a]. *)

exception Closed
(** The same exception as {!Stream.Closed}. *)

val create : ?name:string -> unit -> 'a t
(** [create ()] returns an open channel. Reports and the printer of {!Closed}
    call it by its [name]. *)

(** {1 Sending} *)

val send : 'a t -> 'a -> unit
(** [send t v] gives [v] to a task receiving from [t].

    - {b Suspends} until a task receives [v].
    - {b Raises} {!Closed} if [t] is closed before a task received [v]. *)

val try_send : 'a t -> 'a -> bool
(** [try_send t v] gives [v] to a task waiting to receive, and returns [true].
    If no task waits, it returns [false].

    - {b Raises} {!Closed} if [t] is closed. *)

val send_evt : 'a t -> 'a -> unit Event.t
(** [send_evt t v] is the event of {!send}, the same as {!Concord.Event.send}.
    Performing it raises {!Closed} as {!send} does. *)

val send_seq : 'a t -> 'a Seq.t -> unit
(** [send_seq t seq] sends each value of [seq]. It forces the next value only
    after the previous one has been received.

    - {b Suspends} where {!send} and [seq] do.
    - {b Raises} {!Closed} if [t] is closed before the end of [seq]. *)

(** {1 Receiving} *)

val receive : 'a t -> 'a
(** [receive t] returns a value sent by another task.

    - {b Suspends} until a task sends a value.
    - {b Raises} {!Closed} if [t] is closed before a task sent a value. *)

val try_receive : 'a t -> 'a option
(** [try_receive t] returns the value of a waiting sender, or [None] if no task
    waits to send.

    - {b Raises} {!Closed} if [t] is closed. *)

val receive_evt : 'a t -> 'a Event.t
(** [receive_evt t] is the event of {!receive}, the same as
    {!Concord.Event.receive}.

    Performing it raises {!Closed} as {!receive} does. If a choice both sends to
    and receives from one channel, these two alternatives never meet each other.
*)

val drain : 'a t -> 'a list
(** [drain t] receives a value from each waiting sender, the first one first. It
    returns [[]] if there are none, even if [t] is closed. *)

include Reader.S with type 'a t := 'a t
(** @inline *)

(** {1 Closing} *)

val close : 'a t -> unit
(** [close t] marks the end of [t].

    Sending and receiving then raise {!Closed}, also in waiting tasks. A second
    call does nothing. *)

val is_closed : 'a t -> bool
(** [is_closed t] is [true] once {!close} was called. *)

(** {1 Inspecting} *)

val waiters : 'a t -> int
(** [waiters t] is the number of waiting senders and receivers, for diagnosis.
*)
