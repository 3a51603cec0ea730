(* The processes of a model are threads of one domain. *)

type t = int

(* A task continues in the process that resumed it. If a task represents a thread, no other
   thread may ask for its identity. *)
let only : t option ref = ref None
let self () = match !only with Some t -> t | None -> !Atomic.current
let id t = t

(* No task spins here for long enough to call this. *)
let yield () = failwith "Thread.yield: not in a model"

(* Only needed for a trigger that raises [Sys_error], and the models' triggers don't. *)
let create _ _ = failwith "Thread.create: not in a model"
