(** A blocking operation of a structure: the three things that it consists of,
    and waiting for it. *)

type ('t, 'x, 'a) t = {
  attempt : 't -> 'x -> 'a option;
      (** Performs the operation if it need not wait; else does nothing and is
          [None]. If it raises, the operation raises that. *)
  enlist : 't -> ('x, 'a) Waiter.t -> bool;
      (** Puts the waiter into the structure's queue and is [true]; or, if
          [attempt] would not be [None], does nothing and is [false]. Does not
          raise. *)
  withdraw : 't -> ('x, 'a) Waiter.t -> unit;
      (** The waiter was enlisted and is gone now: counts it so
          ({!Waiters.count_gone}). The structure may have taken the waiter out
          of its queue already. Does not raise; if a signal handler does
          meanwhile, it is called again. *)
}
(** A blocking operation on a structure of type ['t]. None of the three
    functions suspends or performs an effect. *)

val wait : ('t, 'x, 'a) t -> 't -> 'x -> 'a
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

val look_then_wait : ('t, 'x, 'a) t -> 't -> 'x -> 'a
(** As {!wait}, but if the last waits of the domain's tasks were over within a
    microsecond, by other domains, then [attempt] is tried for so long before:
    that is less than a suspension takes. For operations that other tasks let go
    on whether or not the waiter has enlisted; not for those that need a partner
    who has, as both would look. [attempt] is cheap where it is [None].

    - {b Cancelled} before: the operation may be performed all the same, as by a
      task that came sooner.
    - {b Order}: a task that looks has not come yet. After 32 in a row that went
      on so the next one suspends, and others of its loop have their turns. *)

val meet_then_wait : ('t, 'x, 'a) t -> 't -> 'x -> 'a
(** As {!look_then_wait}, for operations that need a partner: the task enlists,
    and looks for so long at what it is resumed with. If that is in vain it
    withdraws, and waits. What it costs then is one waiter more. A task that
    suspends by other means, and one whose waits are kept, only waits.

    - {b Cancelled} before: the task may be resumed all the same, as if it had
      come sooner.
    - {b Order}: a task that has looked in vain comes only then. *)

val may_look : unit -> bool
(** Whether the caller's task is to look: mostly not, which costs little. *)

val attempt_soon : ('t -> 'x -> 'a option) -> 't -> 'x -> 'a option
(** How these look, after {!may_look}. *)

val attempt_at_change :
  _ Atomic.t -> ('t -> 'x -> 'a option) -> 't -> 'x -> 'a option
(** As {!attempt_soon}, for an attempt that can succeed only when the atomic has
    changed. *)

val block :
  ('t, 'x, 'a) t ->
  't ->
  ('x, 'a) Waiter.t ->
  (('a, exn) result -> bool) ->
  'a option
(** [block operation t waiter] is what {!wait} suspends with, and keeps S1. The
    waiter is a fresh one. For a style that suspends by other means than the
    effect. *)

val leave : 's Atomic.t -> (_, _) Waiter.t -> ('s -> 's) -> unit
(** For the [withdraw] of a structure: [Atomically.update], after which the
    waiter is gone, and not counted again. *)

val withdraw : ('t, 'x, 'a) t -> 't -> ('x, 'a) Waiter.t -> unit
(** Marks the waiter as gone, and withdraws it from the structure; does nothing
    if it is gone already. To be called when a suspension by {!block} has
    raised. *)

val place : ('t, 'x, 'a) t -> 't -> 'x -> Waits.place
(** For {!Reach.suspend_with_care}. *)

type refused =
  | Refused : ('t, 'x, 'a) t * 'x -> refused
  | Refused_choice  (** A choice of several. *)

val refused : refused option Atomic.t
(** The operation that a host refused last ({!Reach.refuse}), in any thread, and
    its argument, if that is an immediate value: for messages. *)
