(** Reports for [CONCORD_DEBUG=slow=SECONDS], about tasks that have waited for
    longer, also in a program in which other tasks continue. *)

val watch : float -> unit
(** [watch seconds] watches from now on, in a thread of its own. *)

(** {2 For tests} *)

type seen = {
  number : int;  (** Of the wait. *)
  site : string;  (** Waits in the same place are alike. *)
}

type state

val start : state

val step : limit:float -> now:float -> seen list -> state -> state * int list
(** [step ~limit ~now slow state] is the next state, and the numbers of the
    waits to report. [slow] are all that have waited for longer than [limit] and
    have not ended. Each wait is reported once at most, there are at most two
    reports in [limit], and waits of the same site are reported again only after
    ten times as long. *)
