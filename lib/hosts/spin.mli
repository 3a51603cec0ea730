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
(** A thread looks at most so often, as does {!at_once}; and the next time,
    whatever was learned. For models, as well. *)

(** {2 Looking by turns}

    A task looks by letting others of its loop have their turns: [Look]. *)

val begin_turns : t -> int
(** How many turns long the caller is to look now: 0 if it is not to. Otherwise
    it owes {!end_turns} or {!leave_turns}.

    It is not to look while others that began to wait before are in {!sleeping}:
    tasks that are resumed by one of their loop go on in the order in which they
    are resumed, which is mostly that of their waits. Those that were there in
    all of the last 64 waits do not count. *)

val try_by : t -> ('x -> 'y -> bool) -> 'x -> 'y -> bool
(** [try_by t look x y] is [look x y], a look of the caller's own, and learns
    whether it gained; or [false], if the caller is not to look. No signal
    handler runs after [look] has returned.

    - {b Raises} [e] if [look x y] raises [e]. *)

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

val at_once : t -> (unit -> bool) -> bool
(** [at_once t ready], for a task whose scheduler gives others their turns only
    by suspending it: looks for 1 microsecond, if that may come to be by another
    domain, and returns whether it did; then the task may go on. As
    {!begin_turns} it looks for nobody that began to wait after others that are
    in {!sleeping}, and after 32 in a row that went on the next one does not
    look. *)

val attempt_at_once : t -> ('x -> 'y -> 'a option) -> 'x -> 'y -> 'a option
(** {!at_once}, which gives what [attempt x y] gives. No signal handler runs
    between that and the return, if [attempt] allocates nothing after its last
    step. *)

val attempt_at_change :
  t -> _ Atomic.t -> ('x -> 'y -> 'a option) -> 'x -> 'y -> 'a option
(** As {!attempt_at_once}, for an attempt that can succeed only when the atomic
    has changed: it is made again only then. *)

val create_at_once : unit -> t
(** For these two, and looks by {!begin_turns} that are as short: these take so
    little that one in 4,096 waits looks where all are in vain. *)

val skips : t -> bool
(** Whether this wait is one of those that pass without a look; it is counted.
    For those who are to know that before they call anything. *)

(** {2 Keeping off} *)

val create_to_gather : unit -> t
(** For {!gather}. *)

val gather : t -> ('x -> bool) -> 'x -> unit
(** [gather t has_gathered x] does nothing for 1 to 3 microseconds, if that has
    been worth it: [has_gathered x], called at the end, says whether it was. For
    a task that has nothing to do until another domain has done much: each time
    it looked, it would take what that one writes away from it. As {!at_once}
    otherwise, but that after 4 in a row that were worth it the next one does
    not. *)
