(** HTTP/1.1 messages. Requests are read within limits, so that no client can
    make the server hold more than a few kilobytes for it. *)

val max_head : int
(** The largest size of the request line and the headers, in bytes. *)

val max_body : int
(** The largest size of a request body, in bytes, including the framing of its
    chunks. Bodies are read and discarded. *)

type received =
  | Request of Http.Request.t  (** The body, if any, has been read. *)
  | Refused of Http.Status.t * string
      (** The input is not a valid request. Answer with this status and text,
          then close the connection, because the end of this message is unknown.
      *)

val receive : Input.t -> go_on:(string -> unit) -> received
(** [receive input ~go_on] reads one request with its body. If the client waits
    for permission to send the body, [go_on] sends it.

    @raise End_of_file if the client closed the connection. *)

val keeps_alive : Http.Request.t -> bool
(** Whether the client wants to send more requests on the same connection. *)

type answer = {
  status : Http.Status.t;
  headers : (string * string) list;  (** In addition to the usual ones. *)
  body : string;  (** Plain text. *)
}

val answer :
  ?headers:(string * string) list -> Http.Status.t -> string -> answer
(** [answer status text] has the line [text] as its body. *)

val to_string : ?head_only:bool -> keep_alive:bool -> answer -> string
(** The bytes to send. [head_only] leaves the body out, as for [HEAD]. *)
