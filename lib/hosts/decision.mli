(** The one decision of H3, in which resuming a task and cancelling it race.

    Each wait has a decision of its own. Whoever installs the outcome first has
    won, and owes the task its turn; everybody else is told [false]. *)

type 'a t

val create : unit -> 'a t
(** Undecided. *)

val decide : 'a t -> ('a, exn) result -> bool
(** [decide t outcome] installs [outcome] if [t] is undecided, and tells whether
    it did. The caller that is told [true] owes that the task continues with
    [outcome], also if an exception comes in between (see {!Debt}).

    It contains no polling point: a signal handler runs before it or after it.
*)

val outcome : 'a t -> ('a, exn) result
(** What was decided, or {!undecided}. *)

val offer :
  'a t ->
  (('a, exn) result -> bool) ->
  ((('a, exn) result -> bool) -> 'a option) ->
  ('a, exn) result
(** [offer t resumer block] calls [block resumer] as H1 asks. The result is
    {!undecided} if the task must wait, or has been resumed meanwhile: then the
    resumer's caller has made it ready. Otherwise the result is the outcome with
    which the task goes on now: what [block] gave or raised, in which case
    [Printexc.get_raw_backtrace] is that of the exception. *)

(** {2 Telling the states apart} *)

val undecided : ('a, exn) result
val is_undecided : ('a, exn) result -> bool
