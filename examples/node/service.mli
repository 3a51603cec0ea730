(** A whole node: its network in Eio, its miner, and its RPC in Lwt. *)

open Concord

type ports = {
  listen : int;  (** The port for other nodes. *)
  rpc : int;  (** The port for clients. *)
}

val run :
  net:_ Eio.Net.t ->
  pool:Concord.Workers.t ->
  lwt:unit Concord_lwt.loop ->
  log:(string -> unit) ->
  stop:unit Promise.t ->
  ports:ports ->
  limits:Http_limits.t ->
  peers:Eio.Net.Sockaddr.stream list ->
  Chain.t ->
  unit
(** [run ... chain] runs a node with the blocks of [chain], in a fiber of Eio.
    It returns after [stop] is resolved and everything that it has started has
    ended.

    - {b Raises} [Unix.Unix_error] or [Eio.Io] if a port is taken. *)
