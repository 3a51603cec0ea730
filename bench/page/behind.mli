(** Where others are ahead of us. *)

type t = {
  row : Results.row;  (** Ours. *)
  peer : Results.row;
      (** The best of the others in the same case, and better beyond the spread.
      *)
  times : float * float * float;  (** By how much: a ratio and its quartiles. *)
}

val rows : Results.t -> t list
(** The worst first. *)

val head : string list
(** What a table of them is headed by. *)
