val run : QCheck2.Test.t list -> unit
(** Runs the tests that the seed draws, or all tests in a long run. The random
    commands depend on the same seed. It then ends the program. *)
