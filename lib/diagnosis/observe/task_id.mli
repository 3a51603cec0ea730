(** Tasks with a number of their own, which is the same in all reports and in
    the trace. Names and origins of tasks are noted here too.

    {b Cost}: a weak pointer when a task is asked for the first time. *)

type t = { id : int; host : string; name : string }

val of_who : Who.t -> t
(** The task has the same number each time, and no other task of the process has
    it. A task that is not known ({!Who.is_known}), or that was collected, gets
    another number each time. *)

val name : Who.t -> string -> unit
(** From now on {!of_who} adds this text to the task's own name. The last text
    counts. If the task is not known, nothing is noted. *)

val note_origin : Who.t -> Who.origin -> unit
(** For a task whose host does not keep the origin ({!Who.Forked}). *)

val origin : Who.t -> Who.origin option
(** Where the task was forked, from the host or from here. *)
