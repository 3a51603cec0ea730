(** The waiters of each descriptor, and one loop that polls for all of them.

    Any thread enlists a waiter. Only the loop's thread polls and resumes. *)

type t

val take : unit -> t
(** A poller that no loop serves.

    - {b Raises} [Unix.Unix_error] if no descriptor is left, [Failure] if the
      system doesn't support the words of [CONCORD_AIO]. *)

val give_back : t -> unit
(** No loop serves it any more, and no task waits for it. The next {!take}
    returns it. It is not closed, because other threads may be about to wake it.
*)

(** {2 For any thread} *)

type direction = Read | Write

val enlist :
  t ->
  Owner.t ->
  direction ->
  ('x, 'a) Concord.Tools.Structure_kit.waiter ->
  'a ->
  unit
(** [enlist t owner direction waiter v] makes the loop resume [waiter] with [v]
    once the descriptor is ready, or has failed or reached its end. If it is not
    an open descriptor, or its owner is closing, the waiter gets the error
    [EBADF]. [enlist] takes over a reference to the owner. O(1), and a system
    call if the loop sleeps. *)

val count_withdrawn : t -> Unix.file_descr -> unit
(** A waiter of the descriptor is withdrawn. Amortised O(log n) for [n]
    descriptors that are waited for. *)

val wake : t -> unit
(** Makes the {!poll} that waits now, or the next one that would wait, return.
*)

val waiting : t -> int
(** The number of waiters that the loop knew when it last polled, with some of
    those that are withdrawn. For tests, on any thread. *)

val helpers : t -> threads:int -> Concord.Private.Helpers.t
(** The [threads] that serve it, as helpers. They are idle if they resume no
    task before {!enlist}, busy if they do not sleep, and neither if a task
    waits for them. *)

(** {2 For the loop} *)

val let_go : t -> bool
(** Serves the messages that other threads have sent until now. Afterwards no
    descriptor that is closing is held for this loop. If {!poll} has not
    returned, because it is called in a signal handler, it is [false], and has
    done nothing. *)

val poll : t -> block:bool -> unit
(** Resumes the waiters whose descriptors are ready. With [~block:true] it waits
    until there is one, or until {!wake}, but it may return too early. O(n) for
    [n] descriptors that are waited for.

    - {b Raises} [e] if a signal handler raises [e]. *)

val move : t -> into:(unit -> t) -> unit
(** Enlists the remaining waiters with another poller. It calls [into] only if
    there are any. Afterwards no file is held for this loop. *)
