(** What is known while the program runs: how many tasks wait, and which have
    waited longest. *)

type t

val create : unit -> t
val add : t -> Recorder.item -> unit

val number : t -> int
(** How many events were added. *)

val table : ?at_most:int -> t -> now_ns:int -> since:float -> string list
(** The lines of the table, sorted by hosts and domains. The rates are those of
    the [since] seconds since it was last made. Tasks are those that were seen,
    and are not known to have ended; one that does not wait is forgotten a
    minute after its last event. A task that was seen to do something later does
    not wait any more. A wait that began before events of its process were lost
    may have ended: it is counted by itself, and has a question mark. *)

val profile : t -> Profile.t
(** Of the waits that were seen to begin and to end, and of pauses and marks. *)

val line : t -> now_ns:int -> since:float -> string
(** The same in one line. *)

val from_the_start : t -> unit
(** The rates of the next table count all items, not those since the last one.
*)
