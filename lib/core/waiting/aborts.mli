(** The functions given to [wrap_abort], which run if their event was not
    performed.

    All of them run, even if some raise. Then the first exception is raised.
    Running them suspends where these functions do. *)

type t = {
  run : unit -> unit;
  first : bool;  (** It runs before the functions given to [wrap]. *)
}

type due
(** The aborts that still have to run. Only one task uses it. *)

val nothing_due : due

val with_due : t list -> (due -> 'a) -> 'a
(** [with_due aborts f] calls [f due]. If [f] raises, the remaining aborts run.
*)

val is_empty : due -> bool

val not_first : t list -> t list
(** [not_first aborts] are the aborts that are not [first]. *)

val leave_out : t list -> due -> unit
(** [leave_out aborts due] removes these aborts, because the event inside them
    was performed. It also moves those that are [first] before the others. *)

val run_first : due -> unit
(** [run_first due] runs the remaining aborts that are [first]. Call
    {!leave_out} before. *)

val run_due : due -> unit
(** [run_due due] runs all remaining aborts. *)
