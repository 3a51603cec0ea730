(** What is known while the program runs: how many tasks wait, and which have
    waited longest. *)

type t

val create : unit -> t
val add : t -> Recorder.item -> unit

val number : t -> int
(** How many items were added. *)

val table : ?at_most:int -> t -> now_ns:int -> since:float -> string list
(** The lines of the table, sorted by hosts and domains. The rates are those of
    the [since] seconds since it was last made. Tasks are those that were seen,
    and are not known to have ended. *)

val line : t -> now_ns:int -> since:float -> string
(** The same in one line. *)

val from_the_start : t -> unit
(** The rates of the next table count all items, not those since the last one.
*)
