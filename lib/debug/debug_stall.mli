(** Reports when nothing goes on, and when tasks wait in a cycle:
    [CONCORD_DEBUG=stall=SECONDS]. *)

val watch : float -> unit
(** From now on, from a thread of its own. *)

(** {2 For tests} *)

type progress = {
  begun : int;  (** How many waits have begun. *)
  waiting : int list;
      (** The numbers of those that are there, or were woken and have not gone
          on. *)
}

type state

val start : now:float -> progress:progress -> state

val step :
  limit:float -> now:float -> progress:progress -> state -> state * bool
(** What is known now, and whether it is time for a report. *)

val is_idle : unit -> bool
(** Does a task wait for what the operating system brings, while none is ready?
    Then no stall is reported. *)
