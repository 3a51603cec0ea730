(** Who waits for which descriptor, and one loop that polls for all of them.

    Any thread enlists a waiter; the loop's thread alone polls and resumes. *)

type t

val take : unit -> t
(** A poller that no loop serves.

    - {b Raises} [Unix.Unix_error] if no descriptor is left, [Failure] if
      [CONCORD_AIO] asks for what there is not. *)

val give_back : t -> unit
(** No loop serves it any more, and nobody waits for it. The next {!take} has
    it: it is not closed, because other threads may be about to wake it. *)

(** {2 For any thread} *)

type direction = Read | Write

val enlist :
  t ->
  Owner.t ->
  direction ->
  ('x, 'a) Concord.Tools.Structure_kit.waiter ->
  'a ->
  unit
(** [enlist t owner direction waiter v]: the loop resumes [waiter] with [v] once
    the descriptor is ready, or has failed or reached its end; with an error
    [EBADF] if it is no open descriptor, or its owner is closing. It takes over
    a reference to the owner. O(1); a system call if the loop sleeps. *)

val count_withdrawn : t -> Unix.file_descr -> unit
(** One of those that wait for the descriptor is withdrawn. Amortised O(log n)
    for [n] descriptors that are waited for. *)

val wake : t -> unit
(** The next {!poll} that would wait, or the one that waits now, returns. *)

val waiting : t -> int
(** How many waiters the loop knew when it last polled, with some of those that
    are withdrawn. For tests, on any thread. *)

val helpers : t -> threads:int -> Concord.Private.Others.helpers
(** So many threads serve it. They are idle if they resume nobody before
    {!enlist}, busy if they do not sleep, and neither if somebody waits for
    them. *)

(** {2 For the loop} *)

val let_go : t -> bool
(** Serves what other threads have sent until now: afterwards no descriptor that
    is closing is held for this loop. [false], and it has done nothing, if
    {!poll} has not returned: it is called in a signal handler. *)

val poll : t -> block:bool -> unit
(** Resumes the waiters whose descriptors are ready. With [~block:true] it waits
    until there is one, or until {!wake}; it may return too early. O(n) for [n]
    descriptors that are waited for.

    - {b Raises} [e] what a signal handler raises. *)

val move : t -> into:(unit -> t) -> unit
(** Those that still wait are enlisted with another poller, which is asked for
    if there are any. Afterwards no file is held for this loop. *)
