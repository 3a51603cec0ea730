(** Decides whether a loop, a thread or a task spins before it sleeps, and for
    how long. {!Concord.Tools.Host_kit.Spin} describes this for loops.

    With [CONCORD_SPIN=0] in the environment nothing spins. A value other than
    [0] and [1] ends the program with [Failure] when it starts. *)

type t
(** The state that one loop has learned, or the threads of one domain. Only
    these use it. One of them spins at a time. *)

val create : unit -> t

val until : ?prepare:(unit -> unit) -> t -> (unit -> bool) -> bool
(** {!Concord.Tools.Host_kit.Spin.until}. *)

val until_resumed : is_gain:(unit -> bool) -> t -> (unit -> bool) -> bool
(** [until_resumed ~is_gain t ready] is [until t ready], but a spin that ends
    because [ready ()] is [true] still counts as one in vain if [is_gain ()] is
    [false]. *)

val never : t -> unit
(** From now on nothing spins. For models, in which each turn of a spin is one
    more operation to try in all orders. *)

val limit : t -> int -> unit
(** [limit t n] makes a thread spin at most [n] turns, and a task try [n] times.
    The next wait spins, whatever was learned. For models too. *)

(** {2 Spinning by turns}

    A task spins by letting the other tasks of its loop run (see {!Spinning}).
*)

val begin_turns : t -> int
(** The number of turns that the caller should spin now. If that is not 0, the
    caller owes {!end_turns} or {!leave_turns}.

    It is 0 while tasks that began to wait before are in {!sleeping}. The reason
    is that tasks that are resumed by a task of their loop continue in the order
    in which they are resumed, which is mostly that of their waits. Tasks that
    were asleep in all of the last 64 waits do not count. *)

val sleeping : t -> (unit -> 'a) -> 'a
(** [sleeping t sleep] is [sleep ()], in which a task of the loop sleeps.
    {!fall_asleep} and {!wake_up} are its begin and its end, for callers that
    can't pass a function. *)

val fall_asleep : t -> unit
val wake_up : t -> unit

val end_turns : t -> gained:bool -> unit
(** The caller has spun, in vain unless it [gained]. *)

val leave_turns : t -> unit
(** The caller stops spinning. Nothing is learned from it. *)

(** {2 Attempts} *)

type pace = private {
  tries : int;  (** After the first one, which is made at once. *)
  pauses : int;  (** Of the processor, before each. *)
}
(** How a task that has no turns spins. *)

val attempt :
  t -> pace -> ('x -> 'y -> 'z -> 'a option) -> 'x -> 'y -> 'z -> 'a option
(** [attempt t pace f x y z] calls [f x y z] at this pace until it is not
    [None], for a task whose scheduler runs other tasks only if the task
    suspends. It is [None] if the task should not spin. After 32 attempts in a
    row that succeeded, the next task does not spin, so that the other tasks of
    the loop run.

    Unbroken between the success and the return, if [f] allocates nothing after
    its last step. *)

val attempt_soon :
  t ->
  _ Atomic.t ->
  ('x -> 'y -> 'z -> 'a option) ->
  'x ->
  'y ->
  'z ->
  'a option
(** {!attempt} at the pace {!soon}, for an [f] that can succeed only when the
    atomic has changed. It calls [f] again only then. *)

val soon : pace
(** For 1 microsecond, before or after a task enlists. *)

val mutex : pace
(** For a mutex, whose owner may unlock and lock it several times in its own
    cache meanwhile. *)

val bulk : pace
(** A single try after 1 to 3 microseconds, for a task that has nothing to do
    until another domain has done a lot of work. Each earlier try would take the
    cache line that the domain writes to away from it. *)

val enough : int
(** The number of items, or free slots, that are worth that pause. *)

val short : int
(** The capacity up to which items are taken one by one. *)

val at_once : t -> (unit -> bool) -> bool
(** {!attempt} at the pace {!soon}. It is [true] if [ready ()] became [true]. *)

val skips : t -> bool
(** [true] if this wait is one of those that pass without spinning. It is
    counted. For callers that have to know that before they call anything. *)
