(** Unbounded FIFO queue for any number of producers and consumers: the
    "synchronous Fifo" of "Lightweight concurrency". To put never blocks.

    {b Stability}: stable.

    {[
      # let mailbox = Mailbox.create ()
      val mailbox : '_weak1 Mailbox.t = <abstr>
      # List.iter (Mailbox.put mailbox) [ 1; 2; 3 ]; Mailbox.close mailbox
      - : unit = ()
      # Mailbox.fold ( + ) 0 mailbox
      - : int = 6
    ]}

    An operation without a {b Suspends} line never suspends and performs no
    effect: signal handlers, finalisers and callbacks may use it. Without a
    {b Cost} line it is O(1). *)

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

val create : ?name:string -> unit -> 'a t
(** An empty mailbox. [name] is for reports and for the printer of {!Closed}. *)

val put : 'a t -> 'a -> unit
(** [put t x] appends [x] to [t], or hands [x] to the first task that waits.

    @raise Closed if [t] is closed. *)

val take : 'a t -> 'a
(** [take t] removes the first item of [t].

    - {b Suspends} while [t] is empty.
    - {b Cancelled} while suspended: nothing was removed. A task that was handed
      an item returns it, even if it is cancelled right after.
    - {b Order}: that of arrival.
    - {b Cost}: O(1), also to withdraw (amortised): what was put is taken to the
      front by one take, 10 to 50 ns for each item that is there.

    @raise Closed if [t] is closed and empty. *)

val try_take : 'a t -> 'a option
(** [try_take t] removes the first item, if there is one.

    @raise Closed if [t] is closed and empty. *)

val take_evt : 'a t -> 'a Event.t
(** The event of {!take}. Performing it raises {!Closed} as {!take} does. *)

val close : 'a t -> unit
(** [close t] ends [t]: to put raises {!Closed}; what is there can still be
    taken, and then to take raises {!Closed} as well, also in tasks that wait.
    To close again does nothing. O(n) for the [n] tasks that wait. *)

val is_closed : 'a t -> bool
(** Was {!close} called? *)

val length : 'a t -> int
(** How many items are there. *)

val is_empty : 'a t -> bool
(** [is_empty t] is [length t = 0]. *)

val waiters : 'a t -> int
(** How many tasks wait, for diagnosis. One that was cancelled counts until it
    is unwound. *)

include Reader.S with type 'a t := 'a t
(** @inline *)

val add_seq : 'a t -> 'a Seq.t -> unit
(** [add_seq t seq] is {!put} of each item of [seq]. Suspends only where [seq]
    does.

    @raise Closed if [t] is closed before the end of [seq]. *)

val drain : 'a t -> 'a list
(** [drain t] removes all items that are there when it looks, at once, the first
    one first. [[]] if there are none, also if [t] is closed. What another task
    adds between the look and the removal stays. O(n). *)
