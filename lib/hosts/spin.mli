(** Whether, and how long, to look before sleeping.

    Between two domains most of the time goes into waking a thread that sleeps;
    so a loop looks for a while before it sleeps, unless there is no other core
    that could make something ready meanwhile. It learns from the last waits:
    after it has looked [n] times in vain (up to 6), the next 2{^ n} - 1 waits
    pass without. *)

type t
(** What one loop has learned; for its own thread. *)

val create : unit -> t

val until : t -> (unit -> bool) -> bool
(** [until t ready] looks whether [ready ()], up to a thousand times, some
    microseconds long, and tells whether it came to be. [ready] is cheap. *)

val never : t -> unit
(** From now on {!until} does not look: for a model, in which each look is an
    operation more. *)
