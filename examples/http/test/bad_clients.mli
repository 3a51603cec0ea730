(** What clients see that do not know how to behave, and that the server
    survives them. *)

val wrong_requests : hint:string -> Process.t -> unit
(** They are understood. *)

val refused_requests : Process.t -> unit
val hang_ups : Process.t -> unit

(** {2 Those that keep the server waiting} *)

val idle_client : Process.t -> unit
val slow_clients : Process.t -> unit
val slow_at_last : Process.t -> unit
val deaf_client : Process.t -> unit
