(** What hosts have to do, in this process: the function makes one. *)

val failing_handler :
  (Unix.file_descr -> (Http_service.Host.t -> unit) -> unit) -> unit -> unit

val accepted_at_once :
  (Unix.file_descr -> (Http_service.Host.t -> unit) -> unit) ->
  yield:(unit -> unit) ->
  unit ->
  unit
(** [yield ()] gives the host's other tasks their turn. *)

val given_up :
  (Unix.file_descr -> (Http_service.Host.t -> unit) -> unit) -> unit -> unit
(** An accept that is given up takes no client. *)

(** {2 For what only one of them does} *)

val listener : backlog:int -> Unix.file_descr * int
(** A socket that listens on this machine, and its port. *)

val give_up : Http_service.Host.t -> unit
(** Begins an accept, and gives it up while no client is there. *)
