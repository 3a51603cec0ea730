(** One decision for each wait (H3). *)

val h3 :
  (module Host_signature.HOST) -> (int -> Random.State.t) -> Host_tasks.clause
(** The function gives a generator for each number. *)
