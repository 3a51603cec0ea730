(** Caqti in direct style, for tasks of all hosts and domains.

    Link the drivers of your databases, for example [caqti-driver-postgresql].
    They find this instance by themselves. *)

module Stream : Caqti.Stream.S with type 'a fiber := 'a

module type CONNECTION =
  Caqti.Connection.S
    with type 'a fiber := 'a
     and type ('a, 'e) stream := ('a, 'e) Stream.t

type connection = (module CONNECTION)

(** A pool that is a {!Concord.Pool}. *)
module Pool : sig
  include Caqti.Pool.S with type 'a fiber := 'a
  (** [use] suspends the calling task while all connections are in use, and
      where the database has not answered yet. If the task is cancelled, or [f]
      raises, the connection is closed. Tasks are served in the order in which
      they arrive, and the [priority] is ignored. *)

  val close : ('a, 'e) t -> unit
  (** [close pool] closes the idle connections, and the others when they are
      given back. Later uses raise {!Concord.Pool.Closed}. *)
end

val connect_pool :
  ?pool_config:Caqti.Pool.Config.t ->
  ?config:Caqti.Connect.Config.t ->
  Uri.t ->
  ((connection, [> Caqti.Error.connect ]) Pool.t, [> Caqti.Error.load ]) result
(** [connect_pool uri] is a pool of connections to the database at [uri]. *)

val or_fail : ('a, [< Caqti.Error.t ]) result -> 'a
(** [or_fail (Ok v)] is [v].

    - {b Raises} [Caqti.Error.Exn] for an [Error]. *)
