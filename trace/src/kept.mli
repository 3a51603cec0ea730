(** The items of a trace that its files are made of. They are all items, or
    those of the last seconds. If there are too many, older ones are sampled
    ({!Sampled}). *)

type t

val create : ?last_ns:int -> ?most:int -> unit -> t

val add : t -> Recorder.item -> unit
(** {b Cost}: O(1) amortised. With [last_ns] there is room for as many
    nanoseconds and an eighth more, and for the tasks that have not ended. *)

val trim : t -> unit
(** Leaves items out, until there are about [most]. The newest half of them
    stays complete, and so do the last 100 ms. Call it when the events of all
    domains were read. *)

val timeline : t -> Timeline.t
(** What is left. If something began before the last seconds and continues in
    them, it is there too. *)

val items : t -> Recorder.item list
(** The items of {!timeline}, in the order of their times. *)

type sampling = {
  number : int;  (** How many items were added. *)
  complete_ns : int;  (** How much time at the end is complete. *)
  width_ns : int;  (** Before that, so much time is complete, and then ... *)
  share : int;  (** ... that many times as much from its beginning on. *)
  cut_ns : int option;
      (** How much time is left, if the oldest items were dropped, because
          almost all waits are of different kinds. *)
}

val sampling : t -> sampling option
(** [None] if {!trim} has left nothing out. *)
