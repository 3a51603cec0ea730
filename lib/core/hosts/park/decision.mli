(** The one decision of H3, in which resuming a task and cancelling it race.

    {b Stability}: experimental, because it shows how the library works inside,
    and a faster wait may change it.

    Each wait has a decision of its own. The thread that installs the outcome
    first has won, and owes the task its turn. All others get [false].

    {[
      # open Concord.Tools.Host_kit
      # let decision = Decision.create ()
      val decision : '_weak1 Decision.t = <abstr>
      # Decision.decide decision (Ok "resumed")
      - : bool = true
      # Decision.decide decision (Error Exit)
      - : bool = false
      # Decision.outcome decision
      - : (string, exn) result = Ok "resumed"
    ]} *)

type 'a t = private ('a, exn) result Atomic.t
(** A decision. The type is public for code that must not contain a function
    call. *)

val create : unit -> 'a t
(** [create ()] is the decision of a new wait, which is undecided. *)

val decide : 'a t -> ('a, exn) result -> bool
(** [decide t outcome] installs [outcome] if [t] is undecided, and returns
    whether it did.

    If the result is [true], the caller has to make sure that the task continues
    with [outcome], unbroken.

    It contains no polling point. Any thread may call it. One compare-and-set.
*)

val outcome : 'a t -> ('a, exn) result
(** [outcome t] is the outcome, or {!undecided}. One read. *)

val insist : ('a -> 'b) -> ('b -> bool) -> 'a -> bool
(** [insist prepare resumer outcome] is [resumer (prepare outcome)], for a
    resumer that is made of another one, which keeps H2, and has to allocate
    first.

    Unbroken. If an exception comes in [prepare], [insist] begins again, and
    then raises it. But if the wait was decided by another thread meanwhile, the
    result is [false], and the exception is raised where the thread waits next.
    Otherwise a caller that got the exception would think that it has resumed
    the task. An exception of [resumer] is raised as it is, because it has
    resumed.

    Don't let a call of [insist] be the last thing that a resumer does, because
    the compiler may put a polling point before such a call. Use
    [Sys.opaque_identity (insist resumer outcome)]. *)

val offer :
  'a t ->
  (('a, exn) result -> bool) ->
  ((('a, exn) result -> bool) -> 'a option) ->
  ('a, exn) result
(** [offer t resumer block] calls [block resumer] as H1 requires.

    If the task must wait, or has been resumed meanwhile, the result is
    {!undecided}. In the latter case the resumer's caller has made the task
    ready. Otherwise the result is the value or exception of [block], and the
    task continues with that now. After an exception
    [Printexc.get_raw_backtrace] is its backtrace. It raises nothing. *)

(** {2 Telling the states apart} *)

val undecided : ('a, exn) result
(** The value of {!outcome} before the decision. No outcome is equal to it. *)

val is_undecided : ('a, exn) result -> bool
(** [true] for {!undecided}. *)
