(** HTTP/1.1 on Eio, without Concord. The messages are read by the same code as
    in the other examples. *)

open Http_message

val listen : port:int -> Unix.file_descr
(** A socket on the loopback address that several domains can share. [port] may
    be 0. *)

val port : Unix.file_descr -> int

val affordable : Http_limits.t -> Unix.file_descr -> Http_limits.t
(** Allows as many connections as the system does, without the descriptors that
    the database needs. *)

val serve :
  clock:float Eio.Time.clock_ty Eio.Resource.t ->
  limits:Http_limits.t ->
  log:(string -> unit) ->
  stop:unit Eio.Promise.t ->
  Unix.file_descr ->
  (Http.Request.t -> string -> Message.answer) ->
  unit
(** [serve ~clock ~limits ~log ~stop socket handle] answers requests by
    [handle request body], in a fiber for each connection. Once [stop] is
    resolved, it accepts no more connections, and returns when the requests in
    progress have been answered. An exception ends only the connection in which
    it was raised. *)
