(* Picos is not installed. *)
