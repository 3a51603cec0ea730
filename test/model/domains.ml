(* The processes of a model may stand for domains. *)

let were_spawned () = true
