(** Every group that there is. *)

val all : Case.group list
(** Without the rows that cannot be measured here. *)

val prepare : Effort.t -> Bench_fib.asked -> Case.group -> Case.group
(** The group as it can be measured: {!Bench_fib} must know the machine first,
    and then says so in its titles. The processes of the rows know it too. *)

val left_out : string list
(** Which those are, and why. *)
