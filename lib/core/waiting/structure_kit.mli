(** The parts of which all structures of the library are made, for authors of
    structures.

    {b Stability}: experimental, because it shows how the library works inside,
    and a faster wait may change it.

    A structure is an [Atomic] with an immutable state, in which tasks wait in
    {{!Waiters}queues}. For each blocking operation you write a {{!Step}step},
    which is a pure function of the state, and say where in the state its
    waiters are. The library derives everything else from them. You get direct
    style, cancellation without losses, choice and timeouts
    ({!Concord.Event.make}), and monadic style ({!Concord.Tools.Monadic}). The
    manual is the page {{!/concord/structure}Writing a structure}.

    For example, this gate stays open once it was opened:

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
      {mark = "an operation of Concord"; name = "Gate.pass"; spin = Before;
       holders = <fun>; state = <fun>; from_outside = false; undo = <fun>;
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
    ]} *)

(* They are signatures and not aliases, and there is no [@canonical] above, because
   otherwise odoc 3.2 makes no pages of them. *)

(** {1 Waiters} *)

module Waiter : sig
  (** @inline *)
  include module type of struct
    include Waiter
  end
end

module Waiters : sig
  (** @inline *)
  include module type of struct
    include Waiters
  end
end

type ('x, 'a) waiter = ('x, 'a) Waiter.t = private {
  arg : 'x;
      (** The argument of the operation, such as a value to give, or [()]. *)
  choice : Waiter.choice;
      (** The alternatives of one choice have this in common. *)
  mutable resumer : ('a, exn) result -> bool;
      (** The function called by {!Waiter.resume}. [false] means the waiter was
          cancelled or withdrawn, or its choice took another alternative. The
          waiter has consumed nothing then (S2). *)
}
(** One wait in a structure. S1, S2 and S3 are the rules of the contract
    ({!Concord.Tools.Suspend}). *)

(** {1 Steps} *)

module Step : sig
  (** @inline *)
  include module type of struct
    include Step
  end
end

(** {1 Operations} *)

type ('t, 'x, 'a) own_way = ('t, 'x, 'a) Operation.own
(** Only for structures of this library. *)

(** How a task spins for a microsecond before it suspends, if at all. Choose
    {!Before} unless the operation needs a partner.

    A task spins only in programs with several domains, and only if other
    domains have recently ended the waits of this domain's tasks as quickly.
    After spinning has ended 32 waits in a row, the next wait suspends, to let
    the loop's other tasks run. *)
type ('t, 'x, 'a) spin = ('t, 'x, 'a) Operation.spin =
  | Never
  | Before
      (** The task tries the operation again and again before it enlists. Use it
          if other tasks make the operation possible even while no waiter is in
          the queue. For example, filling a box never depends on a taker. The
          operation has to be cheap to try. A choice spins if all of its
          alternatives have this policy. *)
  | Enlisted
      (** The task enlists, and spins until it is resumed. Use it if the
          operation needs a waiting partner, as in a rendezvous. If spinning was
          in vain, the waiter is withdrawn, and the task enlists anew and
          suspends. Its position in the queue counts from then on. A task that
          was cancelled before may still be resumed, as if it had come sooner.
      *)
  | Enlisted_or_before
      (** The task does as in {!Enlisted}, but as in {!Before} in a choice. At
          most one of two partners may have this policy, because otherwise two
          choices would both try, and neither would be in the queue. For
          example, the receivers of a channel have it, but not the senders. *)
  | Indifferent
      (** The task does as in {!Never}, but a choice with such an alternative
          may spin. A timeout has this policy. *)
  | In_its_own_way of ('t, 'x, 'a) own_way
      (** With attempts and a pace of its own. *)

(** How an operation on a structure of type ['t] is performed, with an argument
    of type ['x] and a result of type ['a]. *)
type ('t, 'x, 'a) how = ('t, 'x, 'a) Operation.how =
  | By_steps : {
      word : 't -> 's Atomic.t;
      step : 'x -> 's -> ('s, 'a) Step.t;
          (** If it returns {!Step.Wait}, the task has to wait in [queue]. *)
      queue : ('s, 'x, 'a) Step.queue;
          (** This function finds the waiters in the state. If [step] returns
              {!Step.Wait} in a state, [queue] has to change the queue in this
              state. See {!Step.queue}. *)
      left : ('s, unit) Step.next;
          (** The part to follow after a waiter was withdrawn. It is
              {!Step.finished} unless a waiter can block others behind it. Then
              it is [Step.Then serve], where [serve] resumes those others. It is
              never {!Step.Again}. Nothing follows if the waiter has refused a
              hand-over before, because the earlier chain continues. *)
    }
      -> ('t, 'x, 'a) how
      (** The operation is a step. If waiters of the structure resume one
          another, as at a rendezvous, the first {!Step.Hand_over} of the step
          has [refused = Again]. Otherwise a choice offering both sides would
          try to meet itself, again and again. *)
  | By_hand of {
      attempt : 't -> 'x -> 'a option;
          (** Performs the operation if it doesn't have to wait. Otherwise it
              does nothing and returns [None]. If it raises, so does the
              operation. *)
      enlist : 't -> ('x, 'a) waiter -> bool;
          (** Puts the waiter into the structure's queue and returns [true]. If
              [attempt] would return [Some], it does nothing and returns
              [false]. It does not raise. *)
      withdraw : 't -> ('x, 'a) waiter -> unit;
          (** Counts the waiter as withdrawn ({!Waiters.count_withdrawn}). It
              was enlisted, but the structure may have taken it out of its queue
              already. It does not raise. If a signal handler does meanwhile,
              [withdraw] is called again. *)
    }
      (** The operation consists of three functions. Use it if the operation
          can't be a step. For example, a timeout reads the clock. None of the
          three functions may suspend or perform an effect. *)

type holder = Holder.t
(** A task holding a structure, such as the owner of a mutex. *)

type ('t, 'x, 'a) operation = ('t, 'x, 'a) Operation.t = {
  mark : string;
      (** Leave the {!default}. [concord-trace --waits] recognises operations by
          it. *)
  name : string;
      (** The name in reports and traces: the module and the function, such as
          ["Mvar.take"]. *)
  spin : ('t, 'x, 'a) spin;
  holders : 't -> holder list;
      (** The tasks holding the structure, for reports. Leave the {!default},
          which is the empty list. *)
  state : 't -> string;
      (** A text for reports, after the operation's name, such as
          ["0 permits left"]. It is called in any thread, while other tasks use
          the structure. The {!default} returns [""], which is not shown. *)
  from_outside : bool;
      (** Set it to [true] if the operating system ends the wait, for example on
          a descriptor. If a task waits this way, {!Concord.Tools.Debug} reports
          the program as idle, and not as stalled. The {!default} is [false]. *)
  undo : 't -> 'x -> 'a -> bool;
      (** [undo structure arg v] undoes the operation, for a task that was
          resumed with [v], and cancelled before it could continue. What it took
          goes to the next task, or comes first again, as if the task had never
          come. What it has put stays.

          [false] means this is not possible. Then the task gets its result in
          spite of the cancellation. The {!default} does nothing and returns
          this. Only hosts whose cancellations can overtake an outcome call it
          (Lwt). It must neither suspend nor raise. *)
  how : ('t, 'x, 'a) how;
}
(** A blocking operation. *)

val default : ('t, 'x, 'a) operation
(** Begin every definition with it, as in [{ default with name; spin; how }].
    Its [spin] is {!Never}. *)

val attempt : ('t, 'x, 'a) operation -> 't -> 'x -> 'a option
(** [attempt operation t arg] performs the operation if it doesn't have to wait.
    Otherwise it returns [None]. *)

val wait : ('t, 'x, 'a) operation -> 't -> 'x -> 'a
(** [wait operation t arg] performs the operation. If it has to wait, the task
    suspends as a waiter of [t].

    [wait] begins with {!attempt}, so an operation that doesn't have to wait
    returns even in a cancelled task, and lets no other task run. [wait] keeps
    S1 and S3.

    - {b Suspends} while the operation must wait. It may spin before.
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
(** [block operation t waiter] is the function with which {!wait} suspends.

    It keeps S1, and the waiter has to be a fresh one. Use it in a style that
    doesn't suspend through the effect. *)

val withdraw : ('t, 'x, 'a) operation -> 't -> ('x, 'a) waiter -> unit
(** [withdraw operation t waiter] marks the waiter as withdrawn, and withdraws
    it from the structure.

    If it is withdrawn already, [withdraw] does nothing. Call it when a
    suspension by {!block} has raised. *)

val update : 's Atomic.t -> ('s -> 's) -> unit
(** [update t f] replaces the state [s] of [t] by [f s], in one step, unless
    [f s] is [s] itself.

    If another task was faster, it calls [f] again. If [f] raises, [t] stays as
    it is. Use it in the [withdraw] of an operation {!By_hand}, together with
    {!Waiters.count_withdrawn}. *)
