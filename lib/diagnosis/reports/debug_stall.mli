(** Reports for [CONCORD_DEBUG=stall=SECONDS], when no task continues, or when
    tasks wait in a cycle. *)

val watch : float -> unit
(** [watch seconds] watches from now on, in a thread of its own. *)

(** {2 For tests} *)

type progress = {
  begun : int;  (** The number of waits that have begun. *)
  waiting : int list;
      (** The numbers of the waits that have not ended, including tasks that
          were woken and have not continued. *)
}

type state

val start : now:float -> progress:progress -> state

val step :
  limit:float -> now:float -> progress:progress -> state -> state * bool
(** [step ~limit ~now ~progress state] is the next state, and whether it is time
    for a report. *)

val pause : took:float -> waits:int -> float
(** The time between two searches for cycles, after one that took so long, in so
    many waits. *)

val is_idle : unit -> bool
(** [is_idle ()] is [true] if a task waits for an event of the operating system,
    while no task is ready. Then no stall is reported. *)
