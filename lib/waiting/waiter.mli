(** One task, or one alternative of a choice, that waits in a structure.

    {b Stability}: experimental, may change in any release.

    A waiter is {e live} from when its resumer is set until it is {e withdrawn}:
    it was withdrawn, has refused, or is an alternative of a choice that took
    it. A waiter that is withdrawn may still be in its queue.

    @canonical Concord.Tools.Structure_kit.Waiter *)

type choice = bool Atomic.t
(** What the alternatives of one attempt to choose share: [true] once one of
    them is chosen. *)

type ('x, 'a) t = {
  arg : 'x;  (** What it waits with: a value to give, a purpose, or [()]. *)
  choice : choice;  (** {!no_choice} if the task waits for nothing else. *)
  mutable resumer : ('a, exn) result -> bool;
      (** Set before a compare-and-set publishes the waiter, and replaced by a
          function that refuses once the waiter is withdrawn. A reader that
          still sees the old resumer is safe: either that resumer refuses too,
          or the waiter merely stays in the queue until the next rebuild. *)
}

val no_choice : choice
(** Shared by all waiters that are in no choice. *)

val make : 'x -> ('x, 'a) t
(** A waiter in no choice, which is not live yet: [resumer] is to be set. *)

val is_live : _ t -> bool
(** Is it not withdrawn? A live waiter may still refuse: its task may just have
    been cancelled. *)

val is_withdrawn : _ t -> bool
(** Is it withdrawn? *)

val mark_withdrawn : _ t -> unit
(** From now on the waiter is withdrawn. Its queue learns of it by
    {!Waiters.count_withdrawn}. *)

val resume : (_, 'a) t -> ('a, exn) result -> bool
(** Resumes a waiter that was taken out of its queue. [false]: it was cancelled,
    or its task chose otherwise; it has consumed nothing, and is withdrawn.

    Call it only in an operation that is written by hand. A step lets the driver
    resume the waiter ({!Step.Hand_over}), and the driver does the rest of the
    operation even if a signal handler raises.

    A signal handler raises at a polling point. So make the outcome before the
    compare-and-set that takes the waiter out of its queue. Then there is no
    polling point between that and the resumer's decision, and an exception out
    of [resume] means that the waiter was resumed.

    - {b Raises} what a signal handler raises, after the decision. *)

val will_refuse : _ t -> to_:_ t -> bool
(** Is the first one withdrawn, or of the same choice as the second, which it
    can't meet? *)

(**/**)

(** For the library only. *)

val make_live : (('a, exn) result -> bool) -> (unit, 'a) t
(** A waiter in no choice, with its resumer. *)

val make_alternative : choice -> 'x -> ('x, 'a) t
(** As {!make}, for an alternative of the choice. *)

val mark_leaving : _ t -> unit
(** It is not live any more, and not counted yet. *)

val is_alternative : _ t -> bool
(** Is it one of a choice's? *)

val of_same_choice : _ t -> _ t -> bool
(** Are these two alternatives of one choice? Then they cannot meet each other.
*)
