(** For authors of structures: the parts of which all structures of the library
    are made.

    {b Stability}: experimental, may change in any release.

    A structure is an [Atomic] with an immutable state, in which tasks wait in
    {{!Waiters}queues}. For each blocking operation you write a {{!Step}step},
    which is a pure function of the state, and say where in the state its
    waiters are. The library makes everything else of that: direct style,
    cancellation that loses nothing, choice, timeouts ({!Concord.Event.make})
    and monadic style ({!Concord.Tools.Monadic}). The manual is the page
    "Writing a structure".

    For example, this is a gate that stays open once it was opened:

    {@ocaml version>=5.4[
    # open Concord
    # open Tools.Structure_kit
    # type state = Open | Shut of (unit, unit) Waiters.t
    type state = Open | Shut of (unit, unit) Waiters.t

    # let pass_step () : state -> _ Step.t = function
        | Open -> Return (Open, ())
        | Shut _ -> Wait
    val pass_step : unit -> state -> (state, unit) Step.t = <fun>

    # let open_step () : state -> _ Step.t = function
        | Open -> Return (Open, ())
        | Shut waiters ->
            Become (Open, Step.resume_all waiters (Ok ()) Step.finished)
    val open_step : unit -> state -> (state, unit) Step.t = <fun>

    # let queue change w = function
        | Open -> Open
        | Shut waiters -> Shut (change waiters w)
    val queue :
      ((unit, unit) Waiters.t -> 'a -> (unit, unit) Waiters.t) ->
      'a -> state -> state = <fun>

    # let passing =
        {
          default with name = "Gate.pass";
          spin = Before;
          how =
            By_steps
              { word = Fun.id; step = pass_step; queue; left = Step.finished };
        }
    val passing : (state Atomic.t, unit, unit) operation =
      {name = "Gate.pass"; spin = Before; holders = <fun>; state = <fun>;
       from_outside = false;
       how =
        By_steps
         {Concord.Tools.Structure_kit.word = <fun>; step = <fun>; queue = <fun>;
          left = Step.Done ()}}

    # let pass gate = wait passing gate ()
    val pass : state Atomic.t -> unit = <fun>
    # let pass_evt gate = Event.make passing gate ()
    val pass_evt : state Atomic.t -> unit Event.t = <fun>
    # let open_ gate = Step.perform gate open_step ()
    val open_ : state Atomic.t -> unit = <fun>
    ]}

    @canonical Concord.Tools.Structure_kit *)

(** {1 Waiters} *)

module Waiter = Waiter
(** A waiter: one wait of one task, or one alternative of a choice. *)

module Waiters = Waiters
(** A queue of them. *)

type ('x, 'a) waiter = ('x, 'a) Waiter.t = private {
  arg : 'x;  (** What it waits with: a value to give, a purpose, or [()]. *)
  choice : Waiter.choice;
      (** The alternatives of one choice have this in common. *)
  mutable resumer : ('a, exn) result -> bool;
      (** The function that {!Waiter.resume} calls. [false] means that the
          waiter was cancelled or withdrawn, or that its choice took another
          alternative. The waiter has consumed nothing then (S2). *)
}
(** One wait in a structure. *)

(** {1 Steps} *)

module Step = Step
(** Pure functions that say what an operation does to the state. *)

(** {1 Operations} *)

(** Whether and how a task spins for a microsecond before it suspends. Choose
    {!Before} unless the operation needs a partner.

    A task spins only in programs of several domains, and only if the last waits
    of the domain's tasks ended so soon because of other domains. After 32 waits
    in a row that spinning ended, the next one suspends, so that the other tasks
    of the loop run. *)
type spin = Operation.spin =
  | Never
  | Before
      (** The task tries the operation again and again before it enlists. This
          is for operations that other tasks make possible even if no waiter is
          in the queue. For example, filling a box never depends on a taker. The
          operation has to be cheap to try. A choice spins if all of its
          alternatives have this policy. *)
  | Enlisted
      (** The task enlists, and spins until it is resumed. This is for
          operations that need a waiting partner, such as a rendezvous. If
          spinning was in vain, the waiter is withdrawn, and the task enlists
          anew and suspends. It counts as having come only then. A task that was
          cancelled before may be resumed all the same, as if it had come
          sooner. *)
  | Enlisted_or_before
      (** {!Enlisted} alone, and {!Before} in a choice. At most one of two
          partners may have this policy, because otherwise two choices would
          both try, and neither would be in the queue. For example, the
          receivers of a channel have it, and the senders don't. *)
  | Indifferent
      (** {!Never} alone, but it doesn't keep a choice from spinning. A timeout
          has this policy. *)

(** How an operation on a structure of type ['t] is performed, with an argument
    of type ['x] and a result of type ['a]. *)
type ('t, 'x, 'a) how = ('t, 'x, 'a) Operation.how =
  | By_steps : {
      word : 't -> 's Atomic.t;
      step : 'x -> 's -> ('s, 'a) Step.t;
          (** If it is {!Step.Wait}, the task has to wait in [queue]. *)
      queue : ('s, 'x, 'a) Step.queue;
          (** Where the waiters are. In each state in which [step] is
              {!Step.Wait}, [queue] has to change the queue: {!Step.queue}. *)
      left : ('s, unit) Step.next;
          (** The part that follows after a waiter was withdrawn. It is
              {!Step.finished} unless a waiter can block others that wait behind
              it. Then it is [Step.Then serve], where [serve] resumes those
              others. It is never {!Step.Again}. Nothing follows if the waiter
              has refused a hand-over before, because the chain of that one
              continues. *)
    }
      -> ('t, 'x, 'a) how
      (** The operation is a step. If waiters of the structure resume one
          another, as at a rendezvous, the first {!Step.Hand_over} of the step
          has [refused = Again]. Otherwise a choice that offers both sides would
          try to meet itself, again and again. *)
  | By_hand of {
      attempt : 't -> 'x -> 'a option;
          (** Performs the operation if it need not wait. Otherwise it does
              nothing and is [None]. If it raises, the operation raises that. *)
      enlist : 't -> ('x, 'a) waiter -> bool;
          (** Puts the waiter into the structure's queue and is [true]. If
              [attempt] would not be [None], it does nothing and is [false]. It
              does not raise. *)
      withdraw : 't -> ('x, 'a) waiter -> unit;
          (** Counts the waiter as withdrawn ({!Waiters.count_withdrawn}). It
              was enlisted, but the structure may have taken it out of its queue
              already. It does not raise. If a signal handler does meanwhile,
              [withdraw] is called again. *)
    }
      (** The operation is three functions. This is for operations that can't be
          a step, such as a timeout, which asks the clock. None of the three
          functions suspends or performs an effect. *)

type holder = Waits.holder
(** A task that holds a structure, such as the owner of a mutex. *)

type ('t, 'x, 'a) operation = ('t, 'x, 'a) Operation.t = {
  name : string;
      (** The name in reports and traces: the module and the function, such as
          ["Mvar.take"]. *)
  spin : spin;
  holders : 't -> holder list;
      (** Reports name those who can end a wait. Leave the {!default}, which
          names nobody. *)
  state : 't -> string;
      (** What reports say of the structure behind the operation's name, such as
          ["0 permits left"]. It is called in any thread, while others use the
          structure. The {!default} is [""], which is not shown. *)
  from_outside : bool;
      (** Does the operating system end the wait, as of a descriptor? A program
          in which a task waits so is idle, and not stalled
          ({!Concord.Tools.Debug}). The {!default} is [false]. *)
  how : ('t, 'x, 'a) how;
}
(** A blocking operation. *)

val default : ('t, 'x, 'a) operation
(** The start of every definition: [{ default with name; spin; how }]. Its
    [spin] is {!Never}. *)

val attempt : ('t, 'x, 'a) operation -> 't -> 'x -> 'a option
(** [attempt operation t arg] performs the operation if it need not wait.
    Otherwise the result is [None]. *)

val wait : ('t, 'x, 'a) operation -> 't -> 'x -> 'a
(** [wait operation t arg] performs the operation. If it has to wait, the task
    suspends as a waiter of [t]. It keeps S1 and S3. A structure may call
    {!attempt} first, or a fast path of its own: that saves a suspension where
    the operation need not wait.

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
    waiter is a fresh one. This is for a style that suspends by other means than
    the effect. *)

val withdraw : ('t, 'x, 'a) operation -> 't -> ('x, 'a) waiter -> unit
(** [withdraw operation t waiter] marks the waiter as withdrawn, and withdraws
    it from the structure. If it is withdrawn already, [withdraw] does nothing.
    Call it when a suspension by {!block} has raised. *)

val update : 's Atomic.t -> ('s -> 's) -> unit
(** [update t f] replaces the state [s] of [t] by [f s], in one step, unless
    [f s] is [s] itself. [f] is called again each time that another task was
    faster. If it raises, [t] stays as it is. It serves for the [withdraw] of an
    operation {!By_hand}, which replaces the queue by what
    {!Waiters.count_withdrawn} makes of it. *)
