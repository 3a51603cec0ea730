(** The items of a trace that its files are made of. They are all items, or
    those of the last seconds, or the last ones up to a number. *)

type t

val create : ?last_ns:int -> ?most:int -> unit -> t

val add : t -> Recorder.item -> unit
(** {b Cost}: O(1) amortised. With [last_ns] there is room for as many
    nanoseconds and an eighth more, and for the tasks that have not ended. *)

val trim : t -> unit
(** Drops the oldest items, until there are at most [most]. The items of the
    last 50 ms stay. Call it when the events of all domains were read. *)

val items : t -> Recorder.item list
(** The items in the order of their times. If something began before the last
    seconds and continues in them, it is among them. *)

val from_ns : t -> int option
(** When the items begin, unless they are all. *)

val cut_to_ns : t -> int option
(** How much time is left, if {!trim} has dropped items. *)
