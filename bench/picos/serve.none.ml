(* The coordinator never starts it. *)
let () = failwith "Picos was not installed when this was built"
