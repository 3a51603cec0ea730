(** Accepts connections until it is told to stop. *)

val run :
  Connection.config ->
  max_connections:int ->
  grace:float ->
  Host.t ->
  (Http.Request.t -> Message.answer) ->
  unit
(** [run config ~max_connections ~grace host handle] answers requests, and
    returns after [config.drain] was filled and the requests in progress were
    answered, or [grace] seconds later: then the caller cuts them off. Clients
    beyond [max_connections] wait to be accepted. Backtraces are recorded in the
    calling domain from now on, because failures of [handle] are logged with
    them. *)
