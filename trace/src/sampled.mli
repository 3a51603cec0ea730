(** The older part of a trace, up to a number of items. If there are more, parts
    of the time are left out, and the rest stays complete.

    Time is divided into segments of equal width. Of each [stride] segments the
    first one is complete. In the others, waits of the same kind are sampled:
    the longest stays, and says for how many it stands. Two waits are of the
    same kind if they have the same operation, structure, line, outcome and sort
    of task, and took about the same time. So a long or rare wait isn't left
    out. While the number is too large, [stride] is doubled. *)

type t

val create : width_ns:int -> t
(** [width_ns] is the width of a segment. *)

val add : t -> Recorder.item -> unit
(** Adds an item, in the order of the times.

    - {b Cost}: O(1). *)

val follow : t -> Recorder.item -> unit
(** Adds only what later items refer to: the start of a program, the fork of a
    task, the beginning of a wait. If a later item ends it, it is dropped. *)

val trim : t -> most:int -> ?from_ns:int -> unit -> unit
(** Drops items until there are at most [most]. What ended before [from_ns] goes
    first. If almost all waits are of different kinds, the oldest are dropped.

    - {b Cost}: O(1) for each item that was added, amortised. *)

val forget_before : t -> int -> unit
(** Drops what ended before this time. *)

val items : t -> Recorder.item list
(** In any order. It includes waits and tasks that have not ended. *)

val zones : t -> Timeline.zone list
(** In the order of time. *)

val share : t -> int
(** Of so many segments one is complete, 1 if all are. *)

val stands_for : t -> (int * int, int) Hashtbl.t
(** For how many waits a wait stands, by its process and number, if it is more
    than one. *)

val cut_ns : t -> int option
(** When the items begin, if the oldest were dropped. *)
