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

(** {1 Steps} *)

module Step = Step
(** What an operation does, as a pure function of the state. *)

(** {1 Operations} *)

(** Whether, and how, a task spins for a microsecond before it suspends. It does
    so only in programs of several domains, if the last waits of the domain's
    tasks were over so soon because of other domains. After 32 waits in a row
    that spinning ended, the next one suspends, so that the other tasks of the
    loop run. *)
type spin = Operation.spin =
  | Never
  | Before
      (** It tries the operation again and again before it enlists. For
          operations that other tasks make possible whether or not a waiter is
          in the queue, as one who fills a box. The operation has to be cheap to
          try. A choice spins if all of its alternatives are so. *)
  | Enlisted
      (** It enlists, and looks whether it was resumed. For operations that need
          a partner who waits, as a rendezvous. If spinning was in vain the
          waiter is withdrawn, and the task enlists anew and suspends: it has
          come only then. One that was cancelled before may be resumed all the
          same, as if it had come sooner. *)
  | Enlisted_or_before
      (** {!Enlisted} alone, and {!Before} in a choice. Of two partners one at
          most may do so, of a channel the receivers: otherwise two choices
          would both try, and neither be in the queue. *)
  | Indifferent
      (** {!Never} alone, but it doesn't keep a choice from spinning: a timeout.
      *)

(** How an operation on a structure of type ['t] is performed, with an argument
    of type ['x] and a result of type ['a]. *)
type ('t, 'x, 'a) how = ('t, 'x, 'a) Operation.how =
  | By_steps : {
      word : 't -> 's Atomic.t;
      step : 'x -> 's -> ('s, 'a) Step.t;
          (** {!Step.Wait} means that the task has to wait in [queue]. *)
      queue : ('s, 'x, 'a) Step.queue;
      left : ('s, unit) Step.next;
          (** What follows after a waiter was withdrawn: mostly
              {!Step.finished}. *)
    }
      -> ('t, 'x, 'a) how
  | By_hand of {
      attempt : 't -> 'x -> 'a option;
          (** Performs the operation if it need not wait. Otherwise it does
              nothing and is [None]. If it raises, the operation raises that. *)
      enlist : 't -> ('x, 'a) waiter -> bool;
          (** Puts the waiter into the structure's queue and is [true]. If
              [attempt] would not be [None], it does nothing and is [false]. It
              does not raise. *)
      withdraw : 't -> ('x, 'a) waiter -> unit;
          (** The waiter was enlisted and is gone now: counts it so
              ({!Waiters.count_gone}). The structure may have taken the waiter
              out of its queue already. It does not raise; if a signal handler
              does meanwhile, it is called again. *)
    }  (** None of the three functions suspends or performs an effect. *)

type ('t, 'x, 'a) operation = ('t, 'x, 'a) Operation.t = {
  name : string;
      (** What reports and traces call it, as ["Mvar.take"]: the module and the
          function. *)
  spin : spin;
  observe : 't -> Waits.observed;  (** {!unobserved} for those of others. *)
  how : ('t, 'x, 'a) how;
}
(** A blocking operation. *)

val unobserved : 't -> Waits.observed
(** Reports say nothing of the structure but where it was created. *)

val attempt : ('t, 'x, 'a) operation -> 't -> 'x -> 'a option
(** Performs the operation if it need not wait; otherwise [None]. *)

val wait : ('t, 'x, 'a) operation -> 't -> 'x -> 'a
(** [wait operation t arg] performs the operation, as a waiter of [t] unless
    that need not wait. It keeps S1 and S3. A function of a structure calls
    {!attempt} first, or its fast path, and [wait] if that is [None].

    - {b Suspends} while the operation must wait. Before that it may spin.
    - {b Cancelled} while suspended: the waiter is withdrawn, and the host's
      exception is raised.
    - {b Order}, {b Cost}: those of the structure's queue; one suspension, and
      one waiter.
    - {b Raises} [e] if the operation raises [e], or if the waiter is resumed
      with [Error e]. *)

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
