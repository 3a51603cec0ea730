(** The host of the server on [Concord_aio], like [Eio_host] in examples/http on
    Eio. *)

val with_listener : Unix.file_descr -> (Http_service.Host.t -> unit) -> unit
(** [with_listener socket f] calls [f] in a task of [Concord_aio.run], with a
    host that accepts connections from [socket]. Connections that are still open
    when [f] returns are cut off. *)
