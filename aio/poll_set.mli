(** A multiplexer by [poll(2)], by way of [iomux], which every system has. *)

val create : ?size:int -> unit -> Multiplexer.t
(** [create ~size ()] has room for [size] at first. [wait] is O(n) for the [n]
    descriptors that are waited for. *)
