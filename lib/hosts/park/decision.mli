(** The one decision of H3, in which resuming a task and cancelling it race.

    {b Stability}: experimental, may change in any release.

    Each wait has a decision of its own. The thread that installs the outcome
    first has won, and owes the task its turn; all others get [false]. *)

type 'a t = private ('a, exn) result Atomic.t
(** Shown for code that must not contain a function call. *)

val create : unit -> 'a t
(** A decision of a new wait: undecided. *)

val decide : 'a t -> ('a, exn) result -> bool
(** [decide t outcome] installs [outcome] if [t] is undecided, and returns
    whether it did. A caller that gets [true] owes that the task continues with
    [outcome], also if a signal handler raises in between.

    It contains no polling point: a signal handler runs before it or after it.
    Any thread may call it. One compare-and-set. *)

val outcome : 'a t -> ('a, exn) result
(** What was decided, or {!undecided}. One read. *)

val insist : ('a -> 'b) -> ('b -> bool) -> 'a -> bool
(** [insist prepare resumer outcome] is [resumer (prepare outcome)], for a
    resumer that is made of another one, which keeps H2, and has to allocate
    first.

    If a signal handler raises in [prepare], [insist] begins again, and then
    raises what the handler raised. But if the wait was decided by others
    meanwhile, the answer is [false], and the exception is raised where the
    thread waits next. In that case a caller that got the exception would take
    it for a promise. What [resumer] raises is raised as it is: it has resumed.

    Don't let a call of [insist] be the last thing that a resumer does, because
    the compiler may put a polling point before such a call. Use
    [Sys.opaque_identity (insist resumer outcome)]. *)

val offer :
  'a t ->
  (('a, exn) result -> bool) ->
  ((('a, exn) result -> bool) -> 'a option) ->
  ('a, exn) result
(** [offer t resumer block] calls [block resumer] as H1 asks. The result is
    {!undecided} if the task must wait, or has been resumed meanwhile: then the
    resumer's caller has made it ready. Otherwise the result is what [block]
    gave or raised, and the task goes on with that now; after an exception
    [Printexc.get_raw_backtrace] is its backtrace. Raises nothing. *)

(** {2 Telling the states apart} *)

val undecided : ('a, exn) result
(** What {!outcome} is before the decision. No outcome is equal to it. *)

val is_undecided : ('a, exn) result -> bool
(** Is this {!undecided}? *)
