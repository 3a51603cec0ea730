(** Accepts connections until it should stop. *)

open Http_message

val run :
  Connection.config ->
  max_connections:int ->
  grace:float ->
  Host.t ->
  (Http.Request.t -> string -> Message.answer) ->
  unit
(** [run config ~max_connections ~grace host handle] answers requests. After
    [config.drain] is filled, it returns when the requests in progress have been
    answered, or [grace] seconds later. In the second case the caller cuts them
    off. Clients beyond [max_connections] wait to be accepted. From now on,
    backtraces are recorded in the calling domain, because failures of [handle]
    are logged with them. *)
