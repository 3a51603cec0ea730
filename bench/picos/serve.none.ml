(* This program is never started if Picos is not installed. *)
let () = failwith "Picos was not installed when this was built"
