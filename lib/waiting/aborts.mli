(** What is to be run if none of the alternatives inside was performed.

    All are run, also if some raise, or a signal handler does, at any moment;
    then the first exception is raised. Each suspends where its function does.
*)

type t = {
  run : unit -> unit;
  first : bool;  (** Before the functions that are wrapped around others. *)
}

type due
(** Those that are still to be run. Only one task touches it. *)

val nothing_due : due

val with_due : t list -> (due -> 'a) -> 'a
(** [with_due aborts f] is [f due]. If that raises, the aborts that are left are
    run. *)

val is_empty : due -> bool

val not_first : t list -> t list
(** Those of them that are not [first]. *)

val leave_out : t list -> due -> unit
(** They are not to be run: what is inside them was performed. Those that are
    [first] come before the others from now on. *)

val run_first : due -> unit
(** Runs those that are left and [first]. After {!leave_out}. *)

val run_due : due -> unit
(** Runs all that are left. *)
