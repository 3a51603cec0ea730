(** Tests the answers to clients that keep to the protocol. *)

val answers : Process.t -> unit
val keep_alive : Process.t -> unit
val bodies : Process.t -> unit
val hosts : Process.t -> unit
val options : Process.t -> unit
val expectations : Process.t -> unit
val last_answer : Process.t -> unit

val load : string -> Process.t -> unit
(** Many clients, which all request this path. *)
