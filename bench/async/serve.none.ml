(* This program is never started if Async is not installed. *)
let () = failwith "Async was not installed when this was built"
