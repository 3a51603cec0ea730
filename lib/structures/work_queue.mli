(** A bounded first-in, first-out queue whose items can be withdrawn.

    {b Stability}: stable.

    It is a {!Stream} in which [add] returns a ticket. With the ticket you can
    withdraw the item, as long as no task has taken it. The item's slot is free
    at once. For example, a server queues jobs for slow workers. If a client
    disconnects, the server withdraws the client's job, because its result is no
    longer needed.

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

    If you never withdraw an item, use {!Stream}, because it is faster.

    The {{!/concord/rules}rules of all structures} hold. But adding, taking and
    withdrawing an item take O(log n) time for [n] items in the queue. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    A waiting producer's item goes into the queue as soon as there is room, even
    before the producer runs again. While another task is moving such an item,
    non-blocking operations may miss it briefly. For example, {!try_take} and
    {!try_add} may return [None], and {!Closed} may come a moment later.
    Blocking operations wait for the item.

    See also the page on {{!/concord/domainslib}Domainslib}. *)

type 'a t
(** A queue of items of type ['a]. *)

type 'a ticket
(** A ticket for one added item. It doesn't keep the item alive. *)

exception Closed
(** The same exception as {!Stream.Closed}. *)

val create : ?name:string -> int -> 'a t
(** [create capacity] returns an empty queue for at most [capacity] items.
    Reports call it by its [name].

    - {b Raises} [Invalid_argument] if [capacity] is less than 1. *)

(** {1 Adding and withdrawing} *)

val add : 'a t -> 'a -> 'a ticket
(** [add t x] adds [x] at the end of [t], and returns a ticket for it.

    - {b Suspends} while [t] is full.
    - {b Raises} {!Closed} if [t] is closed before [x] was added. *)

val try_add : 'a t -> 'a -> 'a ticket option
(** [try_add t x] adds [x] and returns a ticket for it, or returns [None] if
    there is no room.

    - {b Raises} {!Closed} if [t] is closed. *)

val add_evt : 'a t -> 'a -> 'a ticket Event.t
(** [add_evt t x] is the event of {!add}. If a choice performs another
    alternative, nothing is added. *)

val withdraw : 'a ticket -> bool
(** [withdraw ticket] removes the item from the queue and returns [true], or
    returns [false] if the item is no longer there.

    After [true] no task will take the item, and a waiting producer gets its
    slot. You can withdraw items from a closed queue as well.

    [false] has several reasons. For example, a task has taken it or is just
    being given it, or the item was already withdrawn or drained. (In one rare
    case it returns [false] for an item that is taken later. The task just being
    given the item has been cancelled, and no other task waits to take. Then the
    item stays in the queue.) *)

val add_seq : 'a t -> 'a Seq.t -> unit
(** [add_seq t seq] adds each item of [seq], as {!Stream.add_seq} does. You get
    no tickets.

    - {b Suspends} where {!add} and [seq] do.
    - {b Cancelled} while suspended, it leaves the added items in [t].
    - {b Raises} {!Closed} if [t] is closed before the end of [seq]. *)

(** {1 Taking} *)

val take : 'a t -> 'a
(** [take t] removes the first item of [t] and returns it.

    - {b Suspends} while [t] is empty.
    - {b Raises} {!Closed} if [t] is closed and empty. *)

val try_take : 'a t -> 'a option
(** [try_take t] removes the first item and returns it, or returns [None] if [t]
    is empty.

    - {b Raises} {!Closed} if [t] is closed and empty. *)

val take_evt : 'a t -> 'a Event.t
(** [take_evt t] is the event of {!take}. Performing it raises {!Closed} as
    {!take} does. *)

val drain : 'a t -> 'a list
(** [drain t] removes all items of [t] in one step and returns them, the first
    one first. *)

include Reader.S with type 'a t := 'a t
(** @inline *)

(** {1 Closing} *)

val close : 'a t -> unit
(** [close t] marks the end of [t].

    From then on, adding raises {!Closed}, also in tasks waiting to add. The
    items in [t] can still be taken. After the last one, taking raises {!Closed}
    too, also in tasks waiting to take. A second call does nothing. *)

val is_closed : 'a t -> bool
(** [is_closed t] is [true] once {!close} was called. *)

(** {1 Inspecting} *)

val length : 'a t -> int
(** [length t] is the number of items in [t]. *)

val is_empty : 'a t -> bool
(** [is_empty t] is [length t = 0]. *)

val capacity : 'a t -> int
(** [capacity t] is the capacity given to {!create}. *)

val waiters : 'a t -> int
(** [waiters t] is the number of tasks waiting to add or to take, for diagnosis.
*)
