(** Accepts connections until it is told to stop. *)

val run :
  Connection.config ->
  max_connections:int ->
  grace:float ->
  _ Eio.Net.listening_socket ->
  (Http.Request.t -> Http_io.answer) ->
  unit
(** [run config ~max_connections ~grace socket handle] answers requests on
    [socket], and returns after [config.drain] was filled and the requests in
    progress were answered, or cut off [grace] seconds later. Clients beyond
    [max_connections] wait to be accepted. *)
