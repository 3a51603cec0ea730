(** How much is measured: the number of samples of a row, and their length. *)

type t = {
  level : Case.level;
  most : int;  (** The greatest number of samples of a row. *)
  enough : int;
      (** From this number of samples on, a row takes no more of them once the
          {!error} of its ratio is small. *)
  fewest : int;
      (** The number of samples of a comparison whose time is over. *)
  least : int;
      (** The number of samples of a comparison that takes many times its share
          of the time. *)
  error : float;  (** The value that {!Statistics.error} should have. *)
  sample_ms : float option;
      (** The length of a sample of {!Case.Time}. With [None], a sample is a few
          operations. *)
  shortest_ms : float;  (** The length if there is little time for many rows. *)
  crowd : int;  (** The greatest number of tasks of a {!Case.Crowd}. *)
  run_s : float;  (** The time for all groups. *)
  group_s : float;  (** The minimal time for a group that is measured alone. *)
  real_time : bool;
      (** Whether the rows, except loads, run at real-time priority. *)
}

val full : t
val quick : t

val smoke : t
(** Only checks that everything runs. *)

val is_huge : t -> int -> bool
(** Whether a crowd of this size needs a process for each sample. *)

val most : t -> Case.row -> int
(** The greatest number of samples of this row. *)

val is_known : t -> Case.row -> float array list -> bool
(** Whether a row has enough samples. There is one series of ratios, or several
    for a load, and all of them must have a small error. *)

val most_for_verdict : t -> Case.row -> int
(** The greatest number of samples if a verdict needs them. *)

val much_too_late : float
(** A comparison ends after this multiple of its share of the time, even if it
    is incomplete. *)

val goes_on :
  t -> Case.row -> late:float -> is_undecided:bool -> float array list -> bool
(** Whether a row takes another turn, after the turns of {!is_known}'s series.
    [late] is the time its comparison has taken, in proportion to its share.
    Once the share is over, a row goes on only to have [fewest] samples, or if
    its turns don't decide a claim yet ([is_undecided]). Such a row goes on
    until it has {!most_for_verdict}, or until {!much_too_late}. *)

val is_real_time : t -> Case.row -> bool

val is_measured : t -> Case.row -> bool
(** Some rows are left out if there is little effort. *)

val cost_s : t -> Case.comparison -> float
(** About how long a comparison takes, if its errors are small soon. *)

val shortened : t -> patience_s:float -> rows:int -> float option
(** [sample_ms], or less if a comparison of so many rows has only so much time.
*)
