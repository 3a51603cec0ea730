(** Whether, and how long, to look before sleeping.

    Between two domains most of the time goes into waking a thread that sleeps;
    so a loop looks for a while before it sleeps, unless there is no other core
    that could make something ready meanwhile. It learns from its last waits:
    after it has looked in vain [n] times in a row (up to 6), it does not look
    in the next 2{^ n} - 1 waits. *)

type t
(** What one loop has learned; for its own thread. *)

val create : unit -> t

val until : t -> (unit -> bool) -> bool
(** [until t ready] looks whether [ready ()], up to a thousand times, some
    microseconds long, and returns whether it came to be. [ready] is cheap.

    - {b Raises} [e] if [ready ()] raises [e]. *)

val never : t -> unit
(** From now on {!until} does not look. For models, in which each look is one
    more operation to try in all orders. *)
