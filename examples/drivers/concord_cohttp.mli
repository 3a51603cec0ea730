(** Cohttp in direct style, for tasks of all hosts and domains. *)

module IO : Cohttp.S.IO with type 'a t = 'a and type conn = Socket.t

(** Requests to one server, over connections that tasks share. *)
module Client : sig
  type t

  val create :
    ?connections:int ->
    ?over:(Unix.file_descr -> Socket.t) ->
    Unix.sockaddr ->
    t
  (** [create address] is a client with up to [connections], 10 by default,
      which are made when they are needed and kept for the next request. [over]
      is as in {!Socket.connect}. For example, with {!Concord_ssl} this is a
      client for HTTPS. *)

  (** Each request suspends the calling task until the whole answer has come. If
      it is cancelled, its connection is closed. *)
  val call :
    t ->
    ?headers:Http.Header.t ->
    ?body:string ->
    ?chunked:bool ->
    Http.Method.t ->
    Uri.t ->
    Http.Response.t * string
  (** [call t meth uri] is the answer to a request, with its body.

      - {b Suspends} until the whole answer has come.
      - {b Cancelled} meanwhile, it closes the connection, because the answer is
        still on its way. *)

  val get : t -> ?headers:Http.Header.t -> Uri.t -> Http.Response.t * string

  val connections : t -> int
  (** [connections t] is the number of open connections. *)

  val close : t -> unit
end

val serve :
  ?around:(Unix.file_descr -> (unit -> unit) -> unit) ->
  ?over:(Unix.file_descr -> Socket.t) ->
  ?on_error:(Unix.sockaddr -> exn -> unit) ->
  Unix.file_descr ->
  (Http.Request.t -> body:string -> Http.Response.t * string) ->
  unit
(** [serve socket answer] accepts connections on the listening [socket], with a
    task of the caller's host for each, and answers their requests
    ({!Concord_aio.run_server}, to which [on_error] is passed). It ends only by
    being cancelled. An exception of [answer] becomes an answer with the status
    500.

    [around fd f] calls [f ()], which serves one connection, for example to
    count it. [over] makes the connection of its descriptor, as in
    {!Socket.connect}. *)
