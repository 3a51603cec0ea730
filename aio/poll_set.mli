(** [poll(2)], by way of [iomux]: what every system has. *)

val create : ?size:int -> unit -> Multiplexer.t
(** At first for so many. [wait] is O(n) for the [n] descriptors that are waited
    for. *)
