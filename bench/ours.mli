(** The rows of ours, on every host that the shape of a case allows. *)

val one_task : (string * Host.t) list
(** Where a task runs alone, it needs no scheduler. *)

val two_tasks : (string * Host.t) list
(** Of one domain. *)

val two_domains : (string * Host.t) list
(** One task on each: also without a scheduler, in the domain itself. *)

val rows :
  case:string ->
  (string * Host.t) list ->
  (Host.t -> int -> float) ->
  Case.row list

val beside_stdlib :
  case:string -> (Host.t -> int -> float) -> (int -> float) -> Case.row list
(** Two system threads of one domain, and the same with what Stdlib has for
    them: threads are compared with nothing else. *)
