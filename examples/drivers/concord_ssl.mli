(** TLS in direct style by OpenSSL, for tasks of all hosts and domains.

    A connection may be used by a reading and a writing task at once.

    If you write to a connection after the peer has closed it, the process gets
    [SIGPIPE], as with sockets. Ignore the signal. *)

type t

exception Failed of string
(** The operation and OpenSSL's reason, for example
    ["client: certificate verify failed"]. *)

(** {1 Contexts} *)

val client_context : ?authorities:string -> unit -> Ssl.context
(** A context for {!client}, with TLS 1.2 or later. It trusts the certificates
    in the file [authorities], by default those of the system. *)

val server_context : certificate:string -> key:string -> Ssl.context
(** A context for {!server}, with the files of its certificate and its key. *)

(** {1 Connections} *)

val client : Ssl.context -> host:string -> Unix.file_descr -> t
(** [client context ~host fd] shakes hands over the connected socket [fd]. It
    fails unless the peer's certificate is for [host], a name or an address.

    - {b Suspends} until the handshake has ended.
    - {b Cancelled}, or if it raises, it leaves [fd] open, for you to close.
    - {b Raises} {!Failed}. *)

val server : Ssl.context -> Unix.file_descr -> t
(** [server context fd] is {!client} for the other side. *)

val read : t -> bytes -> int -> int -> int
(** [read t b pos len] is like [Unix.read]. The end, 0, is the one that the peer
    has announced. A connection cut off before raises {!Failed}.

    - {b Suspends} until there are bytes.
    - {b Cancelled}, it has taken nothing. *)

val single_write : t -> bytes -> int -> int -> int
(** [single_write t b pos len] is like [Unix.single_write], for up to 16,384
    bytes.

    - {b Suspends} until they are written.
    - {b Cancelled} meanwhile, a part may be written, and later operations raise
      {!Failed}. *)

val close : t -> unit
(** [close t] tells the peer that this is the end, if that is possible without
    waiting, and closes the descriptor. A second call does nothing. *)

val to_socket : t -> Socket.t

(** {1 Over any transport} *)

val over :
  (Unix.file_descr -> t) ->
  Concord_buffered.Reader.t ->
  Concord_buffered.Writer.t ->
  (t -> 'a) ->
  'a
(** [over (server context) reader writer f] is [f t], where [t] is TLS over the
    reader and the writer. At its end, [t] is closed, and its bytes were
    flushed. If the transport fails, operations of [t] raise {!Failed}.

    It is for STARTTLS, where the peer's first bytes of TLS may be in the
    reader's buffer already, and for TLS inside of TLS. Two tasks carry the
    bytes, so each is copied twice more than by {!server}. Without this need,
    use {!server} if [Reader.length reader] is 0. Otherwise close the
    connection, because what is in the buffer was not encrypted, and must not be
    taken for a command after the handshake.

    The reader and the writer belong to [t] meanwhile. Afterwards bytes of the
    reader may be lost. *)
