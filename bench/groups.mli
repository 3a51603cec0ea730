(** The list of all groups. *)

val all : Case.group list
(** All groups, without the rows that cannot be measured here. *)

val prepare : Effort.t -> Bench_fib.asked -> Case.group -> Case.group
(** The group as it can be measured. {!Bench_fib} has to measure the machine
    first, and then mentions the result in its titles. The processes of the rows
    know it too. *)

val left_out : string list
(** The rows that are left out, with the reasons. *)
