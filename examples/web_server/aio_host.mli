(** The server on [Concord_aio]: what [Eio_host] of the other example is on Eio.
*)

val with_listener : Unix.file_descr -> (Http_service.Host.t -> unit) -> unit
(** [with_listener socket f] calls [f] with what accepts from [socket], in a
    task of [Concord_aio.run]. Connections that are left when [f] returns are
    cut off. *)
