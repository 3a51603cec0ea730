(** One wait of a task in a structure, or one alternative of a choice.

    {b Stability}: experimental, because it shows how the library works inside,
    and a faster wait may change it.

    A waiter is {e live} once its resumer is set, until it is {e withdrawn}. It
    is withdrawn if its task was cancelled, if it has refused, or if its choice
    took an alternative. A withdrawn waiter may still be in its queue.

    {[
      # open Concord.Tools.Structure_kit
      # let waiter = Waiter.make "an argument" in
        Waiter.mark_withdrawn waiter;
        (waiter.arg, Waiter.is_live waiter, Waiter.is_withdrawn waiter)
      - : string * bool * bool = ("an argument", false, true)
    ]}

    @canonical Concord.Tools.Structure_kit.Waiter *)

type choice = bool Atomic.t
(** All alternatives of one attempt to choose share this word. It becomes [true]
    when one of them is chosen. *)

type ('x, 'a) t = {
  arg : 'x;
      (** The argument of the operation, such as a value to give, or [()]. *)
  choice : choice;  (** {!no_choice} if the task waits for nothing else. *)
  mutable resumer : ('a, exn) result -> bool;
      (** It is set before a compare-and-set publishes the waiter. When the
          waiter is withdrawn, it is replaced by a function that refuses. If a
          reader still sees the old resumer, that is safe. Either the old
          resumer refuses too, or the waiter merely stays in the queue until the
          next rebuild. *)
}
(** A waiter. *)

val no_choice : choice
(** The word that all waiters outside a choice share. *)

val make : 'x -> ('x, 'a) t
(** [make arg] returns a waiter outside a choice. It isn't live until you set
    its [resumer]. *)

val is_live : _ t -> bool
(** [is_live w] is [true] if [w] isn't withdrawn. A live waiter may still
    refuse, because its task may just have been cancelled. *)

val is_present : _ t -> bool
(** [is_present w] is [true] if [w] is live, and its choice has not taken
    another alternative. *)

val is_withdrawn : _ t -> bool
(** [is_withdrawn w] is [true] if [w] is withdrawn. *)

val mark_withdrawn : _ t -> unit
(** [mark_withdrawn w] makes [w] withdrawn. Tell its queue by
    {!Waiters.count_withdrawn}. *)

val resume : (_, 'a) t -> ('a, exn) result -> bool
(** [resume w outcome] resumes a waiter that was taken out of its queue and
    returns [true], or returns [false] if the waiter refuses.

    A waiter refuses if it was cancelled, or if its task took another
    alternative. In that case, it has consumed nothing and is withdrawn.

    Call it only in operations that you write by hand. In a step, let the driver
    resume the waiter ({!Step.Hand_over}), because it completes the operation
    even if a signal handler raises.

    Signal handlers run, and may raise, at polling points. So allocate the
    outcome before the compare-and-set that takes the waiter out of its queue.
    Then there is no polling point before the resumer's decision. If [resume]
    raises, the waiter was resumed.

    - {b Raises} [e] if a signal handler raises [e], after the decision. *)

val will_refuse : _ t -> to_:_ t -> bool
(** [will_refuse w ~to_] is [true] if [w] is withdrawn, or can't meet [to_]
    because both are alternatives of the same choice. *)

(**/**)

(** For the library only. *)

val make_live : (('a, exn) result -> bool) -> (unit, 'a) t
(** [make_live resumer] returns a live waiter outside a choice. *)

val make_willing : 'x -> ('x, 'a) t
(** [make_willing arg] returns a live waiter that accepts any outcome, and of
    which no task knows. *)

val make_alternative : choice -> 'x -> ('x, 'a) t
(** [make_alternative choice arg] does the same as {!make}, for an alternative
    of the choice. *)

val mark_leaving : _ t -> unit
(** [mark_leaving w] makes [w] no longer live, but it isn't counted as withdrawn
    yet. *)

val is_alternative : _ t -> bool
(** [is_alternative w] is [true] if [w] is an alternative of a choice. *)

val of_same_choice : _ t -> _ t -> bool
(** [of_same_choice a b] is [true] if both are alternatives of one choice, so
    that they can't meet each other. *)
