(** The network of nodes. Fibers of Eio read and write the sockets.

    Each connection has two fibers. One sends the head of the chain and the
    pending transactions, at first and whenever they change. The other one
    receives those of the peer, and requests missing blocks. A pool encodes,
    decodes and checks the messages.

    A peer is dropped if it closes the connection, breaks a rule, or doesn't
    read for 10 seconds. So is one whose connection raises any other exception:
    no connection ends the node. *)

open Concord

type t = {
  chain : Chain.t;
  pool : Concord.Workers.t;
  stop : unit Promise.t;
      (** Once it is resolved, all functions below return. *)
  log : string -> unit;  (** Called with the reason when a peer is dropped. *)
}

val max_accepted : int
(** How many peers that have connected to this node it talks with at a time.
    Further ones wait. *)

val accept : t -> Unix.file_descr -> unit
(** [accept t socket] talks with all peers that connect to [socket], by
    {!Concord_aio.run_server}. If no descriptor is left for one, it logs this
    and tries again. *)

val dial : t -> _ Eio.Net.t -> Eio.Net.Sockaddr.stream -> unit
(** [dial t net address] connects to a peer and talks with it. If the connection
    fails or is lost, it connects again 0.2 seconds later. *)
