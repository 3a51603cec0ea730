(** Percentiles of measurements. *)

val of_list : float list -> float -> float
(** [of_list xs p] is the smallest of [xs] that the fraction [p] (for example
    0.99) of them does not exceed. It is [nan] if [xs] is empty. *)
