(** HTTP/1.1 messages. Requests are read within limits, so that no client can
    make the server hold more than {!max_head} and {!max_body} bytes for it.

    Programs differ in how they read a malformed request. If a proxy and a
    server disagree where it ends, a client can hide another request in it. So
    this reader is strict: a request that two programs could read differently is
    refused. *)

val max_head : int
(** The largest size of the request line and the headers, in bytes. *)

val max_body : int
(** The largest size of a request body, in bytes, including the framing of its
    chunks. *)

type received =
  | Request of Http.Request.t * string  (** With the body, [""] if none. *)
  | Refused of Http.Status.t * string
      (** The input is not a valid request. Answer with this status and text,
          then close the connection, because the end of this message is unknown.
      *)

val receive : Input.t -> go_on:(string -> unit) -> received
(** [receive input ~go_on] reads one request with its body, whatever the method.
    If the client waits for permission to send the body, [go_on] sends it.

    @raise End_of_file if the client closed the connection. *)

val keeps_alive : Http.Request.t -> bool
(** Whether the client wants to send more requests on the same connection. *)

type body =
  | Text of string
  | Html of string
  | Typed of { content_type : string; text : string }
  | Events of ((string -> unit) -> unit)
      (** [Events f]: [f send] sends server-sent events until it returns. *)

type answer = {
  status : Http.Status.t;
  headers : (string * string) list;  (** In addition to the usual ones. *)
  body : body;
}

val answer :
  ?headers:(string * string) list -> Http.Status.t -> string -> answer
(** [answer status text] has the line [text] as its body. *)

val is_chunked : Http.Request.t -> bool
(** Whether the client can read chunks, which HTTP/1.0 doesn't have. *)

val to_string :
  ?head_only:bool -> ?chunked:bool -> keep_alive:bool -> answer -> string
(** The bytes to send. [head_only] leaves the body out, as for [HEAD]. Events
    have to follow, each as a {!chunk} and then the {!last_chunk}, unless
    [chunked] is [false]: then they follow as they are. *)

val chunk : string -> string
(** [text] must not be empty. *)

val last_chunk : string
