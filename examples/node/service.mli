(** A whole node: its network in Eio, its miner, and its RPC in Lwt. *)

open Concord

type ports = {
  listen : int;  (** Where other nodes connect to. *)
  rpc : int;  (** Where clients connect to. *)
}

val run :
  net:_ Eio.Net.t ->
  pool:Domainslib.Task.pool ->
  lwt:unit Concord_lwt.loop ->
  log:(string -> unit) ->
  stop:unit Promise.t ->
  ports:ports ->
  peers:Eio.Net.Sockaddr.stream list ->
  Chain.t ->
  unit
(** [run ... chain] is a node with the blocks of [chain], in a fiber of Eio. It
    returns when [stop] is resolved and all that it has started has ended.

    - {b Raises} [Unix.Unix_error] or [Eio.Io] if a port is taken. *)
