(** How much is measured: how many samples a row has, and how long they take. *)

type t = {
  level : Case.level;
  most : int;  (** Samples of a row. *)
  enough : int;
      (** From so many on a row has no more of them, once the {!error} of its
          ratio is small. *)
  fewest : int;  (** Those of a comparison for which there is no more time. *)
  least : int;  (** Those of one that takes many times its share of it. *)
  error : float;  (** What {!Statistics.error} should be. *)
  sample_ms : float option;
      (** The time for which a sample of {!Case.Time} runs; [None]: no time, a
          few operations. *)
  shortest_ms : float;  (** That where there is little time for many rows. *)
  crowd : int;  (** The most tasks of a {!Case.Crowd}. *)
  run_s : float;  (** The time for all groups. *)
  group_s : float;  (** That for one by itself, at least. *)
}

val full : t
val quick : t

val smoke : t
(** Only to see that everything runs. *)

val is_huge : t -> int -> bool
(** Whether a crowd of so many needs a process for each sample. *)

val most : t -> Case.row -> int
(** Samples of that row. *)

val is_known : t -> Case.row -> float array list -> bool
(** Whether a row has had its samples. Of each there is one series of what is to
    be known, or several of a load; all of them are to have a small error. *)

val is_measured : t -> Case.row -> bool
(** Some rows are left out where there is little effort. *)

val cost_s : t -> Case.comparison -> float
(** About how long a comparison takes, if its errors are soon small. *)

val shortened : t -> patience_s:float -> rows:int -> float option
(** [sample_ms], or shorter: a comparison of so many rows has so much time. *)
