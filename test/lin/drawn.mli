val run : QCheck2.Test.t list -> unit
(** Runs those of the tests that the seed draws, in a long run all, with random
    commands of the same seed, and ends the program. *)
