(** MVar: a box for one value; putting into a full box and taking from an empty
    one wait. {!modify} {e holds} the box: then all others wait.

    {b Stability}: stable.

    Tasks of any hosts meet at one MVar. It is a drop-in for [Lwt_mvar] (in
    direct style) and has the operations of Haskell's [MVar].

    An operation without a {b Suspends} line never suspends and needs no running
    scheduler. All are safe from any domain and thread.

    - {b Order}: tasks that wait to put are served in the order of their
      arrival, and so are tasks that wait to take, read, swap or modify, in a
      queue of their own. Newcomers overtake only tasks that wait to swap or
      modify in a thread that sleeps, and those behind them, for a moment (see
      {!Mutex}).
    - {b Cancelled} while suspended: an operation that is cancelled has changed
      nothing (the value is not in the box, or was not taken, and no other
      waiter loses its turn), and the host's exception is raised. A task that
      was resumed has its outcome, even if it is cancelled right after.
    - {b Cost}: O(1), also to withdraw (amortised); a waiter is allocated only
      to suspend. An operation that puts a value also serves those who wait:
      O(n) for [n] tasks that {!read} it.

    {[
      # let box = Mvar.create_empty ()
      val box : '_weak1 Mvar.t = <abstr>
      # Mvar.try_put box "hello"
      - : bool = true
      # Mvar.try_put box "too late"
      - : bool = false
      # Mvar.take box
      - : string = "hello"
      # Mvar.take_available box
      - : string option = None
    ]} *)

type 'a t
(** A box for one value of type ['a]. *)

val create : ?name:string -> ?in_order:bool -> 'a -> 'a t
(** A full box. [name] is for reports. If it is [~in_order:true] ([false] by
    default), threads that sleep are not overtaken, and may be slower by a
    factor of ten and more. *)

val create_empty : ?name:string -> ?in_order:bool -> unit -> 'a t
(** An empty box. Otherwise as {!create}. *)

val put : 'a t -> 'a -> unit
(** [put t v] puts [v] into [t].

    - {b Suspends} while [t] is full or held, or others wait to put. *)

val take : 'a t -> 'a
(** [take t] takes the value out of [t]; the first task that waits to put, if
    any, then puts its own.

    - {b Suspends} while [t] is empty or held. *)

val read : 'a t -> 'a
(** [read t] is the value in [t], which stays there.

    - {b Suspends} while [t] is empty or held. *)

val swap : 'a t -> 'a -> 'a
(** [swap t v] replaces the value in [t] by [v] and returns it; no other
    operation comes between.

    - {b Suspends} while [t] is empty or held. *)

val modify : 'a t -> ('a -> 'a * 'b) -> 'b
(** [modify t f] replaces the value [v] in [t] by the first half of [f v] and
    returns the second. While [f] runs, [t] is held: all others wait, as behind
    a mutex. If [f] raises, or is cancelled while it is suspended, the old value
    is in [t] again, and the exception is re-raised.

    - {b Suspends} while [t] is empty or held, and where [f] does. An operation
      on [t] in [f], another [modify] too, waits for itself, for ever (but see
      {!Concord.Tools.Suspend.Never_resumed}).
    - {b Raises} [e] if [f] raises [e].

    While waits are kept ({!Concord.Tools.Debug.keep_waits}), a report says
    which task holds the box.

    The box is given back also if a signal handler raises meanwhile, at any
    moment (in native code). *)

val try_put : 'a t -> 'a -> bool
(** As {!put}, but [false] if it would wait. *)

val take_available : 'a t -> 'a option
(** As {!take}, but [None] if it would wait. Like {!try_put} and {!is_empty} it
    treats a box that is held as an empty one that cannot be filled: during
    {!modify}, and while another domain is just handing a value over. *)

val try_take : 'a t -> 'a option
(** {!take_available}, under its name in Haskell.

    {[
      # let box = Mvar.create 'a'
      val box : char Mvar.t = <abstr>
      # Mvar.try_read box
      - : char option = Some 'a'
      # Mvar.try_take box
      - : char option = Some 'a'
      # Mvar.try_read box
      - : char option = None
    ]} *)

val try_read : 'a t -> 'a option
(** As {!read}, but [None] if it would wait, which is when {!take_available}
    would be [None]. *)

val is_empty : 'a t -> bool
(** Whether {!take} would wait. *)

val take_evt : 'a t -> 'a Event.t
(** The event of {!take}. *)

val read_evt : 'a t -> 'a Event.t
(** The event of {!read}. *)

val put_evt : 'a t -> 'a -> unit Event.t
(** The event of {!put}. *)

val swap_evt : 'a t -> 'a -> 'a Event.t
(** The event of {!swap}. As to signal handlers that raise, see {!modify_evt}.
*)

val modify_evt : 'a t -> ('a -> 'a * 'b) -> 'b Event.t
(** The event of {!modify}; the function runs in the task that performs the
    event. If a signal handler raises just when the event was chosen in a
    choice, in {!Concord.Event.poll} or {!Concord.Event.sync_before}, the box
    stays held, for ever: let no handler raise in a task that does this. *)

val waiters : 'a t -> int
(** How many tasks wait, for tests and diagnosis. One that was cancelled counts
    until it is unwound. O(1). *)
