(** The network of nodes: fibers of Eio, which read and write sockets.

    Each connection has two fibers. One sends the head of the chain and the
    pending transactions, at first and whenever they change. The other receives
    those of the peer, and asks for blocks that are missing. A pool encodes,
    decodes and checks the messages.

    A peer that closes the connection, breaks a rule, or doesn't read for 10
    seconds is dropped. *)

open Concord

type t = {
  chain : Chain.t;
  pool : Domainslib.Task.pool;
  stop : unit Promise.t;  (** Resolved: all functions below return. *)
  log : string -> unit;  (** Called with why a peer was dropped. *)
}

val accept : t -> _ Eio.Net.listening_socket -> unit
(** [accept t socket] talks with all that connect to [socket]. *)

val dial : t -> _ Eio.Net.t -> Eio.Net.Sockaddr.stream -> unit
(** [dial t net address] connects to a peer and talks with it. 0.2 seconds after
    the connection was lost, or could not be made, it connects again. *)
