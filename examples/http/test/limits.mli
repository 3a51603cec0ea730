(** What happens when connections, descriptors or ports run out. *)

val connection_limit : Process.t -> unit
(** The limit is one connection. *)

val descriptor_limit : Process.program -> unit -> unit
val port_in_use : Process.t -> unit
