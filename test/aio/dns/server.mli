(** A DNS server on the loopback interface, in its own threads. *)

module Message = Concord_dns__Message

type t

val address : t -> Unix.sockaddr

val asked : t -> int
(** How many datagrams have come. *)

val answered : t -> int
(** How many of them have been answered. All messages of an answer have been
    sent then. *)

val with_ :
  ?tcp:(Message.t -> Message.t list) ->
  (Message.t -> Message.t list) ->
  (t -> 'a) ->
  'a
(** [with_ ~tcp udp f] calls [f] with a server. It answers each query with the
    messages that [udp] or [tcp] returns. *)

(** {2 Answers} *)

val reply :
  ?code:int ->
  ?authority:Message.record list ->
  Message.record list ->
  Message.t ->
  Message.t
(** The answer of a recursive server to a query. *)

val address_of : ?ttl:int -> string -> string -> Message.record
(** A record that gives this name this address. *)

val alias : ?ttl:int -> string -> string -> Message.record
val soa : ?ttl:int -> int -> Message.record

val name_server : string -> Message.record
(** A record of the servers that know this domain. *)
