(** Tests the answers to misbehaving clients, and that the server survives them.
*)

val wrong_requests : hint:string -> Process.t -> unit
(** The server understands these requests. *)

val refused_requests : Process.t -> unit
val hang_ups : Process.t -> unit

(** {2 Clients that keep the server waiting} *)

val idle_client : Process.t -> unit
val slow_clients : Process.t -> unit
val slow_at_last : Process.t -> unit
val deaf_client : Process.t -> unit
