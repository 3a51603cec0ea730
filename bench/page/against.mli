(** Ours against Eio and Go, in as few rows as tell how they stand.

    What one domain does is measured beside a second one, as in the programs
    that people run. *)

val one_domain : Results.t -> string

val two_domains : Results.t -> string
(** Between two domains Eio's figure is mostly how long the system takes to wake
    a sleeping thread; and what more there is. *)

val readme : Results.t -> string
(** A few rows of both, and of which run. *)
