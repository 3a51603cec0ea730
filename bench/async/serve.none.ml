(* The coordinator never starts it. *)
let () = failwith "Async was not installed when this was built"
