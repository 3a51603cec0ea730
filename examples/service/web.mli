(** The HTTP of the service, by the server of [examples/http] on Eio. *)

open Http_message

type t

val listen : port:int -> domains:int -> Http_limits.t -> t
(** A server on the loopback address that as many domains share. [port] may be
    0. All domains together serve at most [max_connections] clients at a time,
    and fewer if the system allows the process too few descriptors: some remain
    for the database. Further clients wait. *)

val port : t -> int

val serve :
  t ->
  stop:_ Concord.Promise.t ->
  log:(string -> unit) ->
  (Http.Request.t -> string -> Message.answer) ->
  (unit -> unit) list
(** [serve t ~stop ~log handle] is a function for each domain, which answers
    requests by [handle request body], in a fiber for each connection. Once
    [stop] is resolved, it accepts no more connections, and returns when the
    requests in progress have been answered.

    A client that is slow, rude or gone ends its own connection only, and so
    does an exception of [handle], which is logged and answered with status 500.
    If a connection can't be accepted, the function logs the reason and tries
    again. *)
