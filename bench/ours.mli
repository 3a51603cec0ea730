(** Concord's rows, on every host that the shape of a case allows. *)

val one_task : (string * Host.t) list
(** Hosts for a single task, which needs no scheduler. *)

val two_tasks : (string * Host.t) list
(** Hosts for two tasks on one domain. *)

val yielding : (string * (Host.t * (unit -> unit))) list
(** The same hosts, each with its own yield. *)

val two_domains : (string * Host.t) list
(** Hosts for one task on each of two domains. The domains themselves are among
    them, without a scheduler. *)

val rows :
  ?impl:string ->
  case:string ->
  (string * 'host) list ->
  ('host -> int -> float) ->
  Case.row list
(** If a case has several Concord rows on a host, [impl] tells them apart. By
    default, it is ["concord"]. *)

val beside_stdlib :
  case:string -> (Host.t -> int -> float) -> (int -> float) -> Case.row list
(** Two system threads of one domain, and the same with Stdlib's structures.
    Threads are compared with nothing else. *)
