(** Tests of hosts, in this process. Each test gets a function that makes a
    host. *)

val failing_handler :
  (Unix.file_descr -> (Http_service.Host.t -> unit) -> unit) -> unit -> unit

val accepted_at_once :
  (Unix.file_descr -> (Http_service.Host.t -> unit) -> unit) ->
  yield:(unit -> unit) ->
  unit ->
  unit
(** [yield ()] lets the host's other tasks run. *)

val given_up :
  (Unix.file_descr -> (Http_service.Host.t -> unit) -> unit) -> unit -> unit
(** A cancelled accept takes no client. *)

(** {2 For tests of a single host} *)

val listener : backlog:int -> Unix.file_descr * int
(** A socket that listens on this machine, and its port. *)

val give_up : Http_service.Host.t -> unit
(** Begins an accept, and cancels it while no client is there. *)
