(** Bounded FIFO stream for any number of producers and consumers.

    {b Stability}: stable.

    A drop-in for [Eio.Stream] between tasks of any hosts, which can be closed.
    (It has no capacity 0: that is a {!Channel}; and no [dump].)

    An operation without a {b Suspends} line never suspends and performs no
    effect: signal handlers, finalisers and callbacks may use it. Without a
    {b Cost} line it is O(1). While other code just moves the items of tasks
    that waited to add, such an operation may not see them yet: {!try_take} may
    be [None], {!try_add} [false], and {!Closed} come a moment later. Operations
    that suspend wait for the items.

    {[
      # let stream = Stream.create 2
      val stream : '_weak1 Stream.t = <abstr>
      # List.map (Stream.try_add stream) [ 'a'; 'b'; 'c' ]
      - : bool list = [true; true; false]
      # Stream.close stream; Stream.drain stream
      - : char list = ['a'; 'b']
    ]} *)

type 'a t
(** A queue of items of type ['a]. *)

exception Closed
(** The same exception for all structures that can be closed. In a choice
    {!next_evt} and {!Concord.Event.to_result} tell whose it is.

    Its printer ([Printexc.to_string]) says [Concord.Stream.Closed] where it
    does not know the structure, and that the others' is the same. It adds the
    structure that raised it last in the thread that prints, if that structure
    has a name or was made while waits are kept: which is the right one if it is
    printed before another one raises. Nothing is added for a choice that was
    closed while it waited. *)

val create : int -> 'a t
(** [create capacity] is empty, and holds at most [capacity] items. It takes
    memory only for the items that are there. It gets a name by
    {!Concord.Tools.Debug.val-name}, as this is Eio's signature.

    - {b Raises} [Invalid_argument] if [capacity] is less than 1. *)

val add : 'a t -> 'a -> unit
(** [add t x] appends [x] to [t].

    - {b Suspends} while [t] is full.
    - {b Cancelled} while suspended: [x] is not in [t], no other waiter loses
      its turn, and the host's exception is raised. After the append, [add]
      returns even if cancelled.
    - {b Order}: waiters are served in the order of arrival, and no task
      overtakes them; the item of a waiter goes into [t] as soon as there is
      room, not when its task runs.
    - {b Cost}: O(1), also to withdraw (amortised).

    @raise Closed if [t] is closed before the append. *)

val take : 'a t -> 'a
(** [take t] removes the first item of [t].

    - {b Suspends} while [t] is empty.
    - {b Cancelled} while suspended: nothing was removed.
    - {b Order}: that of arrival.
    - {b Cost}: O(1), also to withdraw (amortised): what was added is taken to
      the front by one take, 10 to 50 ns for each item that is there.

    @raise Closed if [t] is closed and empty. *)

val try_add : 'a t -> 'a -> bool
(** [try_add t x] appends [x] if there is room, and no task waits for it.
    Returns [true] if it did.

    @raise Closed if [t] is closed. *)

val try_take : 'a t -> 'a option
(** [try_take t] removes the first item, if there is one.

    @raise Closed if [t] is closed and empty. *)

val take_nonblocking : 'a t -> 'a option
(** As {!try_take}, but [None] also if [t] is closed and empty. *)

val add_evt : 'a t -> 'a -> unit Event.t
(** The event of {!add}. Performing it raises {!Closed} as {!add} does. *)

val take_evt : 'a t -> 'a Event.t
(** The event of {!take}. Performing it raises {!Closed} as {!take} does. *)

val close : 'a t -> unit
(** [close t] ends [t]: to add raises {!Closed}, also in tasks that wait to add;
    what is there can still be taken, and then to take raises {!Closed} as well,
    also in tasks that wait to take. To close again does nothing. O(n) for the
    [n] tasks that wait. *)

val is_closed : 'a t -> bool
(** Was {!close} called? *)

val length : 'a t -> int
(** How many items are there. *)

val is_empty : 'a t -> bool
(** [is_empty t] is [length t = 0]. *)

val capacity : 'a t -> int
(** The capacity given to {!create}. *)

val waiters : 'a t -> int
(** How many tasks wait to add or to take, for diagnosis. One that was cancelled
    counts until it is unwound. *)

include Reader.S with type 'a t := 'a t
(** @inline *)

val add_seq : 'a t -> 'a Seq.t -> unit
(** [add_seq t seq] is {!add} of each item of [seq], which is forced as there is
    room: [add_seq t (to_seq u)] moves what is in [u], and comes to it, into
    [t].

    - {b Suspends} where {!add} and [seq] do.
    - {b Cancelled} while suspended: the items that were added stay in [t]. No
      item is lost but the one that waits, if it was removed from elsewhere.

    @raise Closed if [t] is closed before the end of [seq]. *)

val drain : 'a t -> 'a list
(** [drain t] removes all items that are there when it looks, at once, the first
    one first. [[]] if there are none, also if [t] is closed. What another task
    adds between the look and the removal stays. O(n). *)

(**/**)

val create_mailbox : ?name:string -> unit -> 'a t
(** A stream that is never full. Reports call it a mailbox, and its operation
    ["Mailbox.take"]. *)
