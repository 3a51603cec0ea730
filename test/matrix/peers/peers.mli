(** Hosts of libraries that are rarely installed.

    To add one, write [NAME_peer.present.ml], which defines [hosts] for the
    installed library, and [NAME_peer.absent.ml], which only names them. Let the
    dune file select one of the two, and add it to the list in [peers.ml]. *)

val all : Matrix.peer list

val beside_async : Matrix.peer list
(** All except Async. *)
