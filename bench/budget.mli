(** Shares the time that a run should take among its comparisons.

    Each comparison has a part of the remaining time, in proportion to its cost.
    If the errors of its ratios are small soon, the comparisons after it get the
    rest of its part. *)

type t

val create : Effort.t -> all:Case.group list -> Case.group list -> t
(** Begins now. The groups have their part of a run of [all], but each has at
    least a minimum. *)

val share_s : t -> Case.group -> Case.comparison -> float
(** How long this comparison may take. Ask for it only once. It is at least a
    good part of the share that it would have if no earlier comparison took
    longer than its share. *)
