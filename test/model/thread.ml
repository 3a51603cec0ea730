(* The processes of a model are threads of one domain. *)

type t = int

let self () = !Atomic.current
let id t = t

(* Only for a trigger that raises: those of the models do not. *)
let create _ _ = failwith "Thread.create: not in a model"
