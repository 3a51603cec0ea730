(** An unbounded first-in, first-out queue for any number of producers and
    consumers. Adding never blocks.

    {b Stability}: stable.

    Use a mailbox if the producer can't wait, for example in a callback. If
    producers should wait while consumers are behind, use a {!Stream}.

    {[
      # let mailbox = Mailbox.create ()
      val mailbox : '_weak1 Mailbox.t = <abstr>
      # List.iter (Mailbox.add mailbox) [ 1; 2; 3 ]; Mailbox.close mailbox
      - : unit = ()
      # Mailbox.fold ( + ) 0 mailbox
      - : int = 6
    ]}

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    (It is the "synchronous Fifo" of "Lightweight concurrency".)

    See also the pages on {{!/concord/stdlib}Stdlib}, {{!/concord/lwt}Lwt},
    {{!/concord/async}Async} and {{!/concord/domainslib}Domainslib}. *)

type 'a t
(** A queue of items of type ['a]. *)

exception Closed
(** The same exception as {!Stream.Closed}. *)

val create : ?name:string -> unit -> 'a t
(** [create ()] returns an empty mailbox. Reports and the printer of {!Closed}
    call it by its [name]. *)

(** {1 Adding} *)

val add : 'a t -> 'a -> unit
(** [add t x] adds [x] at the end of [t], or hands [x] to the first waiting
    task.

    - {b Raises} {!Closed} if [t] is closed. *)

val add_seq : 'a t -> 'a Seq.t -> unit
(** [add_seq t seq] adds each item of [seq] to [t].

    - {b Suspends} where [seq] does.
    - {b Raises} {!Closed} if [t] is closed before the end of [seq]. *)

(** {1 Taking} *)

val take : 'a t -> 'a
(** [take t] removes the first item of [t] and returns it.

    - {b Suspends} while [t] is empty.
    - {b Cost}: amortised O(1). From time to time, one call moves all added
      items to the front, at 10 to 50 ns each.
    - {b Raises} {!Closed} if [t] is closed and empty. *)

val try_take : 'a t -> 'a option
(** [try_take t] removes the first item and returns it, or returns [None] if [t]
    is empty.

    - {b Raises} {!Closed} if [t] is closed and empty. *)

val take_evt : 'a t -> 'a Event.t
(** [take_evt t] is the event of {!take}. Performing it raises {!Closed} as
    {!take} does. *)

val drain : 'a t -> 'a list
(** [drain t] removes all items at once and returns them, the first one first.

    It returns [[]] if [t] is empty, even if [t] is closed. If another task adds
    an item during the call, the item may stay. *)

include Reader.S with type 'a t := 'a t
(** @inline *)

(** {1 Closing} *)

val close : 'a t -> unit
(** [close t] marks the end of [t].

    From then on, {!add} raises {!Closed}. The items in [t] can still be taken.
    After the last one, taking raises {!Closed} too, also in waiting tasks. A
    second call does nothing. *)

val is_closed : 'a t -> bool
(** [is_closed t] is [true] once {!close} was called. *)

(** {1 Inspecting} *)

val length : 'a t -> int
(** [length t] is the number of items in [t]. *)

val is_empty : 'a t -> bool
(** [is_empty t] is [length t = 0]. *)

val waiters : 'a t -> int
(** [waiters t] is the number of waiting tasks, for diagnosis. *)
