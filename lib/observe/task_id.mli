(** Tasks with a number of their own, which is the same in all reports and in
    the trace. *)

type t = { id : int; host : string; name : string }

val of_who : Who.t -> t
(** The number is the same whenever the task is asked for, and no other task of
    the process has it. A task that is not known ({!Who.is_known}), or that was
    collected, gets another number each time. {b Cost}: a weak pointer when a
    task is asked for the first time. *)
