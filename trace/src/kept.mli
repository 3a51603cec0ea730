(** The items of a trace that its files are made of. They are all items, or
    those of the last seconds. *)

type t

val create : ?last_ns:int -> unit -> t

val add : t -> Recorder.item -> unit
(** {b Cost}: O(1) amortised. With [last_ns] there is room for as many
    nanoseconds and an eighth more, and for the tasks that have not ended. *)

val items : t -> Recorder.item list
(** The items in the order of their times. If something began before the last
    seconds and continues in them, it is among them. *)

val from_ns : t -> int option
(** When the last seconds began. *)
