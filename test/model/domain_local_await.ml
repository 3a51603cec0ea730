type t = { release : unit -> unit; await : unit -> unit }

(* [model_park.ml] says how the triggers work. *)
let prepare : (unit -> t) ref = ref (fun () -> failwith "prepare_for_await")
let prepare_for_await () = !prepare ()
