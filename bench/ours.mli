(** Concord's rows, on every host that the shape of a case allows. *)

val one_task : (string * Host.t) list
(** Hosts for a single task, which needs no scheduler. *)

val two_tasks : (string * Host.t) list
(** Hosts for two tasks on one domain. *)

val two_domains : (string * Host.t) list
(** Hosts for one task on each of two domains. The domains themselves are among
    them, without a scheduler. *)

val rows :
  case:string ->
  (string * Host.t) list ->
  (Host.t -> int -> float) ->
  Case.row list

val beside_stdlib :
  case:string -> (Host.t -> int -> float) -> (int -> float) -> Case.row list
(** Two system threads of one domain, and the same with Stdlib's structures.
    Threads are compared with nothing else. *)
