(** The state of the tasks while the program runs. It has the number of waiting
    tasks, and those that have waited longest. *)

type t

val create : unit -> t
val add : t -> Recorder.item -> unit

val number : t -> int
(** The number of events that were added. *)

val table : ?at_most:int -> t -> now_ns:int -> since:float -> string list
(** The lines of the table, sorted by hosts and domains. The rates are those of
    the [since] seconds since it was last made.

    Tasks are those that were seen, and are not known to have ended. A task that
    does not wait is forgotten a minute after its last event. If a task was seen
    to do something later, it does not wait any more. If a wait began before
    events of its process were lost, it may have ended. So it is counted
    separately, and has a question mark. *)

val profile : t -> Profile.t
(** The profile of the waits that were seen to begin and to end, and of pauses
    and marks. *)

val line : t -> now_ns:int -> since:float -> string
(** The same in one line. *)

val from_the_start : t -> unit
(** The rates of the next table count all items, not those since the last one.
*)
