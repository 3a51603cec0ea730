(** A bounded first-in, first-out queue for any number of producers and
    consumers.

    {b Stability}: stable.

    Use a stream if producers should wait while consumers are behind. It is a
    drop-in for [Eio.Stream] between tasks of any hosts, and it can be closed.
    (A stream of capacity 0 is a {!Channel} here, and there is no [dump].)

    {[
      # let stream = Stream.create 2
      val stream : '_weak1 Stream.t = <abstr>
      # List.map (Stream.try_add stream) [ 'a'; 'b'; 'c' ]
      - : bool list = [true; true; false]
      # Stream.close stream; Stream.drain stream
      - : char list = ['a'; 'b']
    ]}

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    A waiting producer's item goes into the stream as soon as there is room,
    even before the producer runs again. While another task is moving such
    items, non-blocking operations may miss them briefly. For example,
    {!try_take} may return [None], {!try_add} may return [false], and {!Closed}
    may come a moment later. Blocking operations wait for these items.

    See also the pages on {{!/concord/stdlib}Stdlib}, {{!/concord/eio}Eio},
    {{!/concord/lwt}Lwt}, {{!/concord/async}Async} and
    {{!/concord/domainslib}Domainslib}. *)

type 'a t
(** A stream of items of type ['a]. *)

exception Closed
(** The structure is closed.

    All structures with a [close] raise the same exception. If a choice has
    several of them, use {!next_evt} or {!Concord.Event.to_result} to find out
    which one was closed.

    [Printexc.to_string] names the structure that raised it most recently in the
    printing thread. Print the exception before another structure raises it. The
    structure has to have a name, or to be created while waits are kept
    ({!Concord.Tools.Debug.keep_waits}). Otherwise the text is
    [Concord.Stream.Closed], with a note that other structures raise the same
    exception. If a choice was closed while it waited, no structure is named. *)

val create : int -> 'a t
(** [create capacity] returns an empty stream for at most [capacity] items.

    In Lwt, a task may get an item and be cancelled before it continues. The
    item then comes back as the first one and takes no room, so [t] may hold
    more than [capacity] items for a while.

    It uses memory only for the items in it. Because this is Eio's signature,
    you name a stream with {!Concord.Tools.Debug.val-name}.

    - {b Raises} [Invalid_argument] if [capacity] is less than 1. *)

(** {1 Adding} *)

val add : 'a t -> 'a -> unit
(** [add t x] adds [x] at the end of [t].

    - {b Suspends} while [t] is full.
    - {b Raises} {!Closed} if [t] is closed before [x] was added. *)

val try_add : 'a t -> 'a -> bool
(** [try_add t x] adds [x] and returns [true], unless [t] is full or other tasks
    wait to add. Then it returns [false].

    - {b Raises} {!Closed} if [t] is closed. *)

val add_evt : 'a t -> 'a -> unit Event.t
(** [add_evt t x] is the event of {!add}. Performing it raises {!Closed} as
    {!add} does. *)

val add_seq : 'a t -> 'a Seq.t -> unit
(** [add_seq t seq] adds each item of [seq].

    It forces the sequence only as far as there is room. For example,
    [add_seq t (to_seq u)] moves all present and future items of [u] into [t].

    - {b Suspends} where {!add} and [seq] do.
    - {b Cancelled} while suspended, it leaves the added items in [t]. If [seq]
      removes its items from another structure, only the item waiting to be
      added is lost.
    - {b Raises} {!Closed} if [t] is closed before the end of [seq]. *)

(** {1 Taking} *)

val take : 'a t -> 'a
(** [take t] removes the first item of [t] and returns it.

    - {b Suspends} while [t] is empty.
    - {b Cost}: amortised O(1). From time to time, one call moves all added
      items to the front of the queue, at 10 to 50 ns each.
    - {b Raises} {!Closed} if [t] is closed and empty. *)

val try_take : 'a t -> 'a option
(** [try_take t] removes the first item and returns it, or returns [None] if [t]
    is empty.

    - {b Raises} {!Closed} if [t] is closed and empty. *)

val take_nonblocking : 'a t -> 'a option
(** [take_nonblocking t] does the same as {!try_take}, but also returns [None]
    if [t] is closed and empty. It is here because [Eio.Stream] has it. *)

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

(**/**)

val create_mailbox : ?name:string -> unit -> 'a t
(** [create_mailbox ()] returns a stream that is never full. Reports call it a
    mailbox, and its operation ["Mailbox.take"]. *)
