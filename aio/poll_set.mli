(** [poll(2)], by way of [iomux]: what every system has. *)

val create : unit -> 'a Multiplexer.t
(** [wait] is O(n) for the [n] descriptors that are waited for. *)
