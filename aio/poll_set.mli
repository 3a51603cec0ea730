(** A multiplexer by [poll(2)], by way of [iomux], which every system has. *)

val create : unit -> Multiplexer.t
(** [wait] is O(n) for the [n] descriptors that are waited for. *)
