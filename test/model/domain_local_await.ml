type t = { release : unit -> unit; await : unit -> unit }

(* The model of Park says what this is. *)
let prepare : (unit -> t) ref = ref (fun () -> failwith "prepare_for_await")
let prepare_for_await () = !prepare ()
