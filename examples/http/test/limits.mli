(** What happens when something has run out: connections, descriptors, ports. *)

val connection_limit : Process.t -> unit
(** Of one connection. *)

val descriptor_limit : Process.program -> unit -> unit
val port_in_use : Process.t -> unit
