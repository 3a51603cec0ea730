(* dscheck abandons a process by raising in it, which a loop takes for its host's
   cancellation; no model gets here otherwise. *)
let suspend_thread _ = failwith "a model must not block its thread"
