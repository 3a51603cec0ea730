(** The server on [Concord_aio]. *)

val with_listener : Unix.file_descr -> (Http_service.Host.t -> 'a) -> 'a
(** [with_listener socket f] calls [f], in a task of [Concord_aio.run], with
    what accepts from [socket]. Connections that are open when [f] returns are
    cut off. *)
