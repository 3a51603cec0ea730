(** For authors of structures: what all structures of the library are made of.

    A structure is one [Atomic] with an immutable state, in which tasks wait in
    a {{!Waiters}queue}. Each blocking operation is given as three functions,
    and has from these direct style, cancellation that loses nothing, choice,
    timeouts ({!Concord.Event.make}) and monadic style ({!Concord.Monadic}). The
    manual is the page "Writing a structure". *)

(** {1 Waiters} *)

module Waiter = Waiter
(** One wait. *)

module Waiters = Waiters
(** A queue of them. *)

type ('x, 'a) waiter = ('x, 'a) Waiter.t = private {
  arg : 'x;  (** What it waits with: a value to give, a purpose, or [()]. *)
  choice : Waiter.choice;
      (** What the alternatives of one choice have in common. *)
  mutable resumer : ('a, exn) result -> bool;
      (** What {!Waiter.resume} calls. [false]: the waiter was cancelled or
          withdrawn, or a choice took another alternative; it has consumed
          nothing (S2). *)
}
(** One wait in a structure. *)

(** {1 Operations} *)

type ('t, 'x, 'a) operation = ('t, 'x, 'a) Operation.t = {
  attempt : 't -> 'x -> 'a option;
      (** Performs the operation if it need not wait; else does nothing and is
          [None]. If it raises, the operation raises that. *)
  enlist : 't -> ('x, 'a) waiter -> bool;
      (** Puts the waiter into the structure's queue and is [true]; or, if
          [attempt] would not be [None], does nothing and is [false]. Does not
          raise. *)
  withdraw : 't -> ('x, 'a) waiter -> unit;
      (** The waiter was enlisted and is gone now: counts it so
          ({!Waiters.count_gone}). The structure may have taken the waiter out
          of its queue already. Does not raise; if a signal handler does
          meanwhile, it is called again. *)
}
(** A blocking operation on a structure of type ['t]. None of the three
    functions suspends or performs an effect. *)

val wait : ('t, 'x, 'a) operation -> 't -> 'x -> 'a
(** [wait operation t arg] performs the operation, as a waiter of [t] unless
    that need not wait. It keeps S1 and S3. A function of a structure calls
    [attempt] first, and [wait] if that is [None].

    - {b Suspends} while the operation must wait.
    - {b Cancelled} while suspended: the waiter is withdrawn, and the host's
      exception is raised.
    - {b Order}, {b Cost}: those of the structure's queue; one suspension, and
      one waiter.
    - {b Raises} [e] if [attempt] raises [e], or if the waiter is resumed with
      [Error e]. *)

val look_then_wait : ('t, 'x, 'a) operation -> 't -> 'x -> 'a
(** As {!wait}, but in a program of several domains [attempt] may first be tried
    for a microsecond, which is less than a suspension takes: where the last
    waits of the domain's tasks were over so soon. For operations that another
    task lets go on whether or not the waiter is in the queue, as one who fills
    a box; for one that needs a partner who waits there is {!meet_then_wait}.
    [attempt] must be cheap where it is [None]. A task goes on so 32 times in a
    row at most, before it suspends and lets the others of its loop have their
    turns. *)

val meet_then_wait : ('t, 'x, 'a) operation -> 't -> 'x -> 'a
(** The same for an operation that needs a partner who waits, as a rendezvous:
    the waiter is enlisted for a microsecond, before its task suspends. If
    nobody has resumed it then, it is withdrawn, and the task waits: so a task
    that looks in vain has come only after that. One that was cancelled before
    may be resumed all the same, as if it had come sooner. *)

val block :
  ('t, 'x, 'a) operation ->
  't ->
  ('x, 'a) waiter ->
  (('a, exn) result -> bool) ->
  'a option
(** [block operation t waiter] is what {!wait} suspends with, and keeps S1. The
    waiter is a fresh one. For a style that suspends by other means than the
    effect. *)

val withdraw : ('t, 'x, 'a) operation -> 't -> ('x, 'a) waiter -> unit
(** Marks the waiter as gone, and withdraws it from the structure; does nothing
    if it is gone already. To be called when a suspension by {!block} has
    raised. *)

val update : 's Atomic.t -> ('s -> 's) -> unit
(** [update t f] replaces the state [s] of [t] by [f s], in one step, unless
    [f s] is [s] itself. [f] is called again each time that another task was
    faster. If it raises, [t] stays as it is. Most [withdraw]s are one update:
    the queue is replaced by what {!Waiters.count_gone} makes of it. *)
