(* A loop takes the exception with which dscheck abandons a process for its host's
   cancellation, and then gets here. No other path in a model leads here. *)
let suspend_thread _ = failwith "a model must not block its thread"
