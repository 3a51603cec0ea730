(* A pool in which a task starts when the process that submitted it has nothing else to do. *)

exception Interrupted

(* Whether a signal handler interrupts the next [async], and whether this happens before or
   after it submits the task. *)
let interrupt : [ `Before | `After ] option ref = ref None

module Task = struct
  type pool = unit
  type 'a promise = unit

  (* A process that dscheck has abandoned must not continue. *)
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

  (* Unused, because the models wait by other means. *)
  let await () () = failwith "Task.await: not in a model"
end
