(** A blocking operation of a structure, and waiting for it. *)

(** Whether, and how, a task spins for a microsecond before it suspends. It does
    so only in programs of several domains, if the last waits of the domain's
    tasks were over so soon because of other domains. After 32 waits in a row
    that spinning ended, the next one suspends, so that the other tasks of the
    loop run. *)
type spin =
  | Never
  | Before
      (** It tries the operation again and again before it enlists. For
          operations that other tasks make possible whether or not a waiter is
          in the queue, as one who fills a box. A choice spins if all of its
          alternatives are so. *)
  | Enlisted
      (** It enlists, and looks whether it was resumed. For operations that need
          a partner who waits, as a rendezvous. If spinning was in vain the
          waiter is withdrawn, and the task enlists anew and suspends. *)
  | Enlisted_or_before
      (** {!Enlisted} alone, and {!Before} in a choice. Of two partners one at
          most may do so, of a channel the receivers: otherwise two choices
          would both try, and neither be in the queue. *)
  | Indifferent
      (** {!Never} alone, but it doesn't keep a choice from spinning: a timeout.
      *)

(** How an operation on a structure of type ['t] is performed, with an argument
    of type ['x] and a result of type ['a]. *)
type ('t, 'x, 'a) how =
  | By_steps : {
      word : 't -> 's Atomic.t;
      step : 'x -> 's -> ('s, 'a) Step.t;
          (** {!Step.Wait} means that the task has to wait in [queue]. *)
      queue : ('s, 'x, 'a) Step.queue;
      left : ('s, unit) Step.next;
          (** What follows after a waiter was withdrawn: mostly
              {!Step.finished}. Nothing follows if the waiter has refused a
              hand-over before, because then that one goes on. *)
    }
      -> ('t, 'x, 'a) how
  | By_hand of {
      attempt : 't -> 'x -> 'a option;
          (** Performs the operation if it need not wait. Otherwise it does
              nothing and is [None]. If it raises, the operation raises that. *)
      enlist : 't -> ('x, 'a) Waiter.t -> bool;
          (** Puts the waiter into the structure's queue and is [true]. If
              [attempt] would not be [None], it does nothing and is [false]. It
              does not raise. *)
      withdraw : 't -> ('x, 'a) Waiter.t -> unit;
          (** The waiter was enlisted and is gone now: counts it so
              ({!Waiters.count_gone}). The structure may have taken the waiter
              out of its queue already. It does not raise; if a signal handler
              does meanwhile, it is called again. *)
    }  (** None of the three functions suspends or performs an effect. *)

type ('t, 'x, 'a) t = {
  name : string;  (** What reports and traces call it, as ["Mvar.take"]. *)
  spin : spin;
  holders : 't -> Waits.holder list;
      (** Those who can end a wait, if they are known: for reports. *)
  how : ('t, 'x, 'a) how;
}

val default : ('t, 'x, 'a) t
(** What most operations have: it does not spin, and its holders are not known.
    An operation is [{ default with name; how }]. *)

val attempt : ('t, 'x, 'a) t -> 't -> 'x -> 'a option
(** Performs the operation if it need not wait; otherwise [None]. *)

val enlist : ('t, 'x, 'a) t -> 't -> ('x, 'a) Waiter.t -> bool
(** Puts the waiter, whose resumer is set, into the queue; or is [false], and
    does nothing, if the operation can be attempted. A waiter whose only
    partners are alternatives of its own choice has to wait too. *)

val wait : ('t, 'x, 'a) t -> 't -> 'x -> 'a
(** [wait operation t arg] performs the operation, as a waiter of [t] unless
    that need not wait. It keeps S1 and S3. A function of a structure calls
    {!attempt} first, or its fast path, and [wait] if that is [None].

    - {b Suspends} while the operation must wait. Before that it may spin.
    - {b Cancelled} while suspended: the waiter is withdrawn, and the host's
      exception is raised. Cancelled while it spins: the operation may be
      performed all the same, as by a task that came sooner.
    - {b Order}, {b Cost}: those of the structure's queue; one suspension, and
      one waiter. A task that spins {!Before} has not come yet.
    - {b Raises} [e] if the operation raises [e], or if the waiter is resumed
      with [Error e]. *)

(** {2 Parts of it, for structures that spin in their own way} *)

val suspend : ('t, 'x, 'a) t -> 't -> 'x -> 'a
(** {!wait}, without spinning. *)

exception Nudged
(** A waiter that is resumed with this is out of its queue, and was given
    nothing: its task tries again. *)

val may_spin : unit -> bool
(** Whether the caller's task should spin: mostly not, which costs little. *)

val spin :
  Spin.pace -> ('x -> 'y -> 'z -> 'a option) -> 'x -> 'y -> 'z -> 'a option
(** {!Spin.attempt}, by what the tasks of this domain have learned. *)

(** {2 For choices, and styles that suspend in other ways} *)

val block :
  ('t, 'x, 'a) t ->
  't ->
  ('x, 'a) Waiter.t ->
  (('a, exn) result -> bool) ->
  'a option
(** [block operation t waiter] is what {!wait} suspends with, and keeps S1. The
    waiter is a fresh one. For a style that suspends by other means than the
    effect. *)

val withdraw : ('t, 'x, 'a) t -> 't -> ('x, 'a) Waiter.t -> unit
(** Marks the waiter as gone, and withdraws it from the structure; does nothing
    if it is gone already. To be called when a suspension by {!block} has
    raised. *)

val leave : 's Atomic.t -> (_, _) Waiter.t -> ('s -> 's) -> unit
(** For the [withdraw] of an operation by hand: [Atomically.update], after which
    the waiter is gone, and not counted again. *)

val target : ('t, 'x, 'a) t -> 't -> Waits.target
(** For {!Reach.suspend_with_care}. *)

val refused : string option Atomic.t
(** The name of the operation that a host refused last ({!Reach.refuse}), in any
    thread: for messages. *)
