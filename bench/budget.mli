(** Who has how much of the time that a run should take.

    Each comparison has a part of what is left, by what it costs; what it does
    not use, as the errors of its ratios were soon small, is there for those
    after it. *)

type t

val create : Effort.t -> all:Case.group list -> Case.group list -> t
(** Begins now. The groups have their part of a run of [all], and at least some
    time for each. *)

val share_s : t -> Case.group -> Case.comparison -> float
(** How long that one may take, which is then not asked for again: at least a
    good part of what it would have if none before took longer than its share.
*)
