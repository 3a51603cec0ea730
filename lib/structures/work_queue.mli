(** Bounded FIFO queue whose items can be withdrawn.

    {b Stability}: experimental, may change in any release.

    It is a {!Stream} in which [add] returns a ticket. Whoever has the ticket
    can withdraw the item, as long as no task has taken it. The room of the item
    is free at once. For example, a server queues jobs for slow workers. If a
    client disconnects, its job is withdrawn instead of being computed for
    nobody.

    {[
      # let jobs = Work_queue.create 2
      val jobs : '_weak1 Work_queue.t = <abstr>
      # let a = Work_queue.add jobs "a" and b = Work_queue.add jobs "b"
      val a : string Work_queue.ticket = <abstr>
      val b : string Work_queue.ticket = <abstr>
      # Work_queue.withdraw a
      - : bool = true
      # Work_queue.take jobs
      - : string = "b"
      # Work_queue.withdraw b
      - : bool = false
    ]}

    If no item is ever withdrawn use {!Stream}, which is faster.

    An operation without a {b Suspends} line never suspends and performs no
    effect: signal handlers, finalisers and callbacks may use it. Without a
    {b Cost} line it is O(1). In O(log n), [n] is the number of items. While
    another task just moves the item of a task that waited to add, such an
    operation may not see it yet: then {!try_take} may be [None], {!try_add} may
    be [None], and {!Closed} comes a moment later. Operations that suspend wait
    for the item. *)

type 'a t
(** A queue of items of type ['a]. *)

type 'a ticket
(** Stands for one item that was added. It doesn't keep the item alive. *)

exception Closed
(** The same exception as {!Stream.Closed}. *)

val create : ?name:string -> int -> 'a t
(** [create capacity] is empty, and holds at most [capacity] items. Reports call
    it by its [name].

    - {b Raises} [Invalid_argument] if [capacity] is less than 1. *)

(** {2 Adding and withdrawing} *)

val add : 'a t -> 'a -> 'a ticket
(** [add t x] appends [x] to [t].

    - {b Suspends} while [t] is full.
    - {b Cancelled} while suspended: [x] is not in [t], no other waiter loses
      its turn, and the host's exception is raised. After the append, [add]
      returns even if cancelled.
    - {b Order}: waiters are served in the order of arrival, and no task
      overtakes them. The item of a waiter goes into [t] as soon as there is
      room, not when its task runs.
    - {b Cost}: O(log n); O(1) to stop waiting (amortised).

    @raise Closed if [t] is closed before the append. *)

val try_add : 'a t -> 'a -> 'a ticket option
(** [try_add t x] appends [x] if there is room. Otherwise it is [None]. O(log
    n).

    @raise Closed if [t] is closed. *)

val add_evt : 'a t -> 'a -> 'a ticket Event.t
(** The event of {!add}. An alternative that isn't chosen adds nothing. *)

val withdraw : 'a ticket -> bool
(** [withdraw ticket] removes the item from the queue: no task will take it, and
    a task that waits to add gets its place. The result is [false] if the item
    isn't there any more, because a task has taken it or is just being given it,
    or it was withdrawn or drained before. Items can be withdrawn from a closed
    queue as well. O(log n).

    (If a task that is just being given the item has been cancelled, and no
    other one waits to take, the item stays in the queue. Only then [withdraw]
    may be [false] for an item that is taken later.) *)

val add_seq : 'a t -> 'a Seq.t -> unit
(** As {!Stream.add_seq}, for items that won't be withdrawn.

    - {b Suspends} where {!add} and [seq] do.
    - {b Cancelled} while suspended: the items that were added stay in [t].

    @raise Closed if [t] is closed before the end of [seq]. *)

(** {2 Taking} *)

val take : 'a t -> 'a
(** [take t] removes the first item of [t].

    - {b Suspends} while [t] is empty.
    - {b Cancelled} while suspended: nothing was removed.
    - {b Order}: that of arrival.
    - {b Cost}: O(log n); O(1) to stop waiting (amortised).

    @raise Closed if [t] is closed and empty. *)

val try_take : 'a t -> 'a option
(** [try_take t] removes the first item, if there is one. O(log n).

    @raise Closed if [t] is closed and empty. *)

val take_nonblocking : 'a t -> 'a option
(** As {!try_take}, but [None] also if [t] is closed and empty. *)

val take_evt : 'a t -> 'a Event.t
(** The event of {!take}. Performing it raises {!Closed} as {!take} does. *)

val drain : 'a t -> 'a list
(** [drain t] removes all items of [t] in one step. The first one is the first
    of the list. O(n). *)

include Reader.S with type 'a t := 'a t
(** @inline *)

(** {2 The end} *)

val close : 'a t -> unit
(** [close t] ends [t]: adding raises {!Closed}, also in tasks that wait to add.
    The items that are there can still be taken. Then taking raises {!Closed} as
    well, also in tasks that wait to take. To close again does nothing. O(m) for
    the [m] tasks that wait. *)

val is_closed : 'a t -> bool
(** Was {!close} called? *)

(** {2 Looking at it} *)

val length : 'a t -> int
(** How many items are there. *)

val is_empty : 'a t -> bool
(** [is_empty t] is [length t = 0]. *)

val capacity : 'a t -> int
(** The capacity given to {!create}. *)

val waiters : 'a t -> int
(** How many tasks wait to add or to take, for diagnosis. One that was cancelled
    counts until it is unwound. *)
