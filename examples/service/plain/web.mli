(** HTTP/1.1 on Eio, without Concord. The messages are read by the same code as
    in the other examples. *)

open Http_message

type limits = {
  max_connections : int;  (** Further clients wait. *)
  idle_timeout : float;
      (** The seconds after which a connection without a request is closed. *)
  transfer_timeout : float;
      (** The seconds that a client may take to send a request, or to receive an
          answer. *)
}

val listen : port:int -> Unix.file_descr
(** A socket on the loopback address that several domains can share. [port] may
    be 0. *)

val port : Unix.file_descr -> int

val affordable : limits -> Unix.file_descr -> limits
(** Allows as many connections as the system does, without the descriptors that
    the database needs. *)

val serve :
  clock:float Eio.Time.clock_ty Eio.Resource.t ->
  limits:limits ->
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
