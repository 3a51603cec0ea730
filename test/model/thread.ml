(* The processes of a model are threads of one domain. *)

type t = int

(* A task goes on in the process that resumed it. Where it stands for a thread, it is
   the only one that asks. *)
let only : t option ref = ref None
let self () = match !only with Some t -> t | None -> !Atomic.current
let id t = t

(* Nothing looks here for long enough. *)
let yield () = failwith "Thread.yield: not in a model"

(* Only for a trigger that raises [Sys_error]: those of the models do not. *)
let create _ _ = failwith "Thread.create: not in a model"
