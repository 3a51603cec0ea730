(** HTTP/1.1 messages on a connection: requests are read within limits, so that
    no client can make the server hold more than a few kilobytes for it. *)

val max_head : int
(** The largest request line with headers, in bytes. *)

val max_body : int
(** The largest request body, in bytes. Bodies are read and forgotten. *)

type received =
  | Request of Http.Request.t  (** The body, if any, has been read. *)
  | Refused of Http.Status.t * string
      (** No request: answer with this status and text, then close, for what
          follows cannot be told from the rest of this message. *)

val receive : Eio.Buf_read.t -> Eio.Flow.sink_ty Eio.Resource.t -> received
(** [receive reader sink] reads one request with its body. [sink] serves to tell
    a client that asks before it sends the body to go on.

    @raise End_of_file if the client closed the connection. *)

val keeps_alive : Http.Request.t -> bool
(** Does the client want to send more requests on the same connection? *)

type answer = {
  status : Http.Status.t;
  headers : (string * string) list;  (** In addition to the usual ones. *)
  body : string;  (** Plain text. *)
}

val answer :
  ?headers:(string * string) list -> Http.Status.t -> string -> answer
(** [answer status text] has the line [text] as its body. *)

val send :
  _ Eio.Flow.sink -> ?head_only:bool -> keep_alive:bool -> answer -> unit
(** Writes an answer. [head_only] leaves the body out, as for [HEAD]. *)
