(** Overtaking a task that waits in a sleeping thread.

    A sleeping thread takes so long to wake up that all other tasks would have
    to wait for it. Then they would fall asleep too, and such a convoy doesn't
    dissolve. So a structure isn't handed over to a task in a sleeping thread.
    Instead, the structure {e nudges} the task. This means that the structure
    stays free, and the task tries again. If it comes in vain, it goes to the
    front of its queue, and is nudged again. From the first nudge on, at most
    {!most} other tasks may overtake it, and only for {!patience_ns}. After
    that, the structure is kept for it while it is on its way, and is handed to
    it as to any other task if it waits.

    The structure's state records that a nudged task is on its way, how many
    tasks have overtaken it, and since when. It keeps these two while the task
    waits again. This module does the task's part. Only {!wait} suspends. *)

type t
(** Part of the argument with which a task waits. *)

val never : t
(** The task is never nudged. *)

val is_due : t -> bool
(** [is_due t] is [true] if the task should be nudged, because its thread
    sleeps. {!may_overtake} may forbid it. *)

val is_over : t -> bool
(** [is_over t] is [true] if the task was nudged before. It is on its way, or
    has come in vain. *)

val outcome : ('a, exn) result
(** The outcome with which a nudged waiter is resumed, after it was taken out of
    its queue. *)

val most : int
(** The number of tasks that may overtake. *)

val patience_ns : int
(** The time after which no task may overtake, in nanoseconds. *)

val now_ns : unit -> int
(** The clock of [since] below. *)

val may_overtake : overtaken:int -> since:int -> bool
(** [may_overtake ~overtaken ~since] is [true] if one task more may overtake a
    task that was first nudged at the time [since], and has been overtaken by so
    many. If it is [false], the task isn't nudged again either. {b Cost}: a
    reading of the clock. *)

type ('t, 'x, 'a) waiting = {
  operation : ('t, 'x, 'a) Operation.t;  (** Also the operation of the event. *)
  how_again : ('t, 'x, 'a) Operation.how;
      (** The operation of a nudged task. The task goes to the front, and is no
          longer on its way. *)
  of_arg : 'x -> t;
  with_arg : 'x -> t -> 'x;
  give_up : 't -> 'x -> unit;
      (** The nudged task doesn't come. This function uses [Step.surely], but
          must not end in that call (unbroken).

          If two tasks wait, it may be called for the one that was not nudged.
          So the state may say that no task is on its way while one is, but
          never the reverse. *)
}
(** How a task waits in a structure of type ['t], with an ['x] for an ['a]. *)

val wait : ('t, 'x, 'a) waiting -> 't -> 'x -> 'a
(** [wait waiting t arg] is {!Operation.wait}, which is repeated each time that
    the task is nudged. *)

(** {2 For tests} *)

val operation_again : ('t, 'x, 'a) waiting -> ('t, 'x, 'a) Operation.t
(** [operation_again waiting] is the operation of a nudged task. *)

val of_thread : Sleeper.t -> t
(** A task in this thread that was not nudged. *)

val of_nudged : Sleeper.t -> t
(** A task in this thread that was nudged. *)

val again : t -> t
(** [again t] is the same task, when it is nudged or has come in vain. *)
