(* A pool whose tasks start when whoever submits them has nothing else to do. *)

exception Interrupted

(* The next [async] is interrupted by a signal handler: before it has submitted the
   task, or after. *)
let interrupt : [ `Before | `After ] option ref = ref None

module Task = struct
  type pool = unit
  type 'a promise = unit

  (* A process that dscheck has abandoned is not to go on. *)
  let get_num_domains () =
    if !Atomic.abandoned then Effect.perform Atomic.Abandoned;
    1

  let async () f =
    match !interrupt with
    | None -> Model.later f
    | Some when_ ->
        interrupt := None;
        if when_ = `After then Model.later f;
        raise Interrupted

  (* The models wait by other means. *)
  let await () () = failwith "Task.await: not in a model"
end
