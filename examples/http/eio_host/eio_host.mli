(** The server on Eio. *)

val with_listener : Unix.file_descr -> (Http_service.Host.t -> 'a) -> 'a
(** [with_listener socket f] calls [f] in an Eio fiber, with a host that accepts
    connections from [socket]. Connections that are still open when [f] returns
    are cut off. *)
