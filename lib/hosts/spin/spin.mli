(** Whether, and how long, to look before sleeping.

    Between two domains most of the time goes into waking a thread that sleeps;
    so a loop, a thread or a task looks for a while before it sleeps, unless
    there is no other core that could make something ready meanwhile. It learns
    from its last waits: after it has looked in vain [n] times in a row (up to
    9), it does not look in the next 2{^ n} - 1 waits. A look that gained halves
    [n], and the next wait looks again. *)

type t
(** What one loop has learned, or the threads of one domain; for these only. One
    of them looks at a time. *)

val create : unit -> t

val until : ?prepare:(unit -> unit) -> t -> (unit -> bool) -> bool
(** [until ~prepare t ready] calls [prepare ()], and looks whether [ready ()],
    up to 2,000 times, some 30 to 70 microseconds long, which is longer than it
    takes to wake a thread; and returns whether it came to be. [ready] is cheap.
    If it is not to look it calls neither. Other threads of the domain that are
    ready have their turns meanwhile.

    - {b Raises} [e] if [prepare ()], [ready ()] or a signal handler raises [e].
*)

val never : t -> unit
(** From now on nobody looks. For models, in which each look is one more
    operation to try in all orders. *)

val limit : t -> int -> unit
(** A thread looks at most so often, and a task has so many tries; and the next
    time, whatever was learned. For models, as well. *)

(** {2 Looking by turns}

    A task looks by letting others of its loop have their turns: [Look]. *)

val begin_turns : t -> int
(** How many turns long the caller is to look now: 0 if it is not to. Otherwise
    it owes {!end_turns} or {!leave_turns}.

    It is not to look while others that began to wait before are in {!sleeping}:
    tasks that are resumed by one of their loop go on in the order in which they
    are resumed, which is mostly that of their waits. Those that were there in
    all of the last 64 waits do not count. *)

val sleeping : t -> (unit -> 'a) -> 'a
(** [sleeping t sleep] is [sleep ()], in which a task of the loop sleeps:
    between {!fall_asleep} and {!wake_up}, which are for those who do without a
    function. *)

val fall_asleep : t -> unit
val wake_up : t -> unit

val end_turns : t -> gained:bool -> unit
(** The caller has looked, and gained by it or not. *)

val leave_turns : t -> unit
(** The caller does not look any more. Nothing is learned from it. *)

(** {2 Attempts} *)

type pace = private {
  tries : int;  (** After the first one, which is made at once. *)
  pauses : int;  (** Of the processor, before each. *)
}
(** How a task that has no turns spins. *)

val attempt :
  t -> pace -> ('x -> 'y -> 'z -> 'a option) -> 'x -> 'y -> 'z -> 'a option
(** [attempt t pace f x y z] calls [f x y z] at this pace until it is not
    [None], for a task whose scheduler gives others their turns only by
    suspending it. It is [None] if the task should not spin. After 32 attempts
    in a row that succeeded, the next task does not spin, so that the others of
    the loop have their turns.

    No signal handler runs between the success and the return, if [f] allocates
    nothing after its last step. *)

val attempt_soon :
  t ->
  _ Atomic.t ->
  ('x -> 'y -> 'z -> 'a option) ->
  'x ->
  'y ->
  'z ->
  'a option
(** {!attempt} at the pace {!soon}, for an [f] that can succeed only when the
    atomic has changed: it is called again only then. *)

val soon : pace
(** For 1 microsecond, before or after a task enlists. *)

val mutex : pace
(** For a mutex, whose owner may unlock and lock it several times in its own
    cache meanwhile. *)

val bulk : pace
(** A single try after 1 to 3 microseconds, for a task that has nothing to do
    until another domain has done much: each time it looked, it would take what
    that one writes away from it. *)

val enough : int
(** How many items, or places, are worth that pause. *)

val short : int
(** The capacity up to which items are taken one by one. *)

val at_once : t -> (unit -> bool) -> bool
(** {!attempt} at the pace {!soon}: whether [ready ()] came to be. *)

val skips : t -> bool
(** Whether this wait is one of those that pass without a look; it is counted.
    For callers that have to know that before they call anything. *)
