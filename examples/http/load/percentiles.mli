(** How a set of measurements is distributed. *)

val of_list : float list -> float -> float
(** [of_list xs] is the function from [p] (say 0.99) to the smallest of [xs]
    that is not exceeded by the fraction [p] of them; [nan] if there are none.
*)
