(** Permits and waiting tasks, the common part of {!Mutex}, {!Semaphore} and
    {!Rwlock}.

    A semaphore has its initial number of permits, and an acquire takes one of
    them. A lock has {!all} of them. A writer takes all, and a reader takes one.
    A mutex is a lock without readers.

    Tasks are served in the order in which they arrived, except for sleeping
    threads ({!Nudge}). *)

type request = {
  amount : int;  (** The number of permits, which may be zero. *)
  aside : bool;
      (** If it is [true], the task goes behind those that don't stand aside. *)
  owner : Holders.t;  (** The task for the permits. *)
  nudge : Nudge.t;
}
(** A request of a task. *)

type waiters = (request, unit) Waiters.t

type rare = private {
  promised : int;
      (** The number of free permits for which nudged tasks come. *)
  overtaken : int;
      (** The number of tasks ahead of a nudged task in the present round. *)
  since : int;
      (** The time at which the round began, of [Nudge.now_ns], or negative if
          there is none. *)
  second : waiters;  (** The waiting tasks that stand aside. *)
  known : Holders.t list;  (** The known holders. *)
  in_order : bool;  (** If it is [true], no task is nudged. *)
  capacity : int;
      (** The number of permits at first, if holders were known then. Otherwise
          it is negative. *)
}
(** Fields that are empty in most states. *)

(** [Free] and [Held] are those of a lock for which no task waits, and whose
    holder isn't known. *)
type state = private
  | Free
  | Held
  | State of { free : int; first : waiters; rare : rare }

val free_of : state -> int
val first_of : state -> waiters
val rare_of : state -> rare

type t = state Atomic.t

val all : int
val make : ?in_order:bool -> ?capacity:int -> int -> t

val request : int -> request
(** [request n] is a request for [n] permits, which doesn't stand aside, and
    whose owner is unknown. If [n] is 0, the task still waits for its turn. *)

val few : int

val few_free : int -> state
(** [few_free n] is the state in which [n] permits are free, no task waits, and
    no holder is known. [n] is at most {!few}. It is a constant, which a task
    neither allocates, nor fetches from the core that has allocated it. *)

val few_taken : int -> state
(** [few_taken n] does the same for {!all} permits without [n]. *)

(** {2 Steps} *)

val take : request -> state -> (state, unit) Step.t
(** [take request] takes the permits, or returns {!Wait}. *)

val give : request -> state -> (state, unit) Step.t
(** [give request] returns the permits, and serves the next tasks. O(n) for [n]
    served tasks. *)

val give_part : int -> state -> (state, unit) Step.t
(** [give_part n] does the same as {!give}, for [n] of a task's permits. The
    task keeps others, so it stays a holder. *)

val give_up : request -> state -> (state, unit) Step.t
(** [give_up request] records the nudged task's absence. *)

(** {2 Waiting} *)

type 't waiting = ('t, request, unit) Nudge.waiting

val waiting :
  ?left:(state, unit) Step.next ->
  ('t -> t) ->
  ('t, request, unit) Operation.t ->
  't waiting
(** [waiting word operation] waits as [operation] says, except for its [how].
    [left] follows when a waiter has withdrawn. By default, it serves the next
    tasks. *)

val waiters : t -> int
(** [waiters t] is the number of waiting tasks, without the nudged ones. *)

val passed : request -> state -> state
(** The state after {!give}, if it only passes the permits to the first waiter.
    Otherwise the state itself. *)
