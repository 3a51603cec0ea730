(** HTTP/1.1 messages. Requests are read within limits, so that no client can
    make the server hold more than a few kilobytes for it. *)

val max_head : int
(** The largest request line with headers, in bytes. *)

val max_body : int
(** The largest request body, in bytes, with what tells where its chunks end.
    Bodies are read and forgotten. *)

type received =
  | Request of Http.Request.t  (** The body, if any, has been read. *)
  | Refused of Http.Status.t * string
      (** No request: answer with this status and text, then close, for what
          follows cannot be told from the rest of this message. *)

val receive : Input.t -> go_on:(string -> unit) -> received
(** [receive input ~go_on] reads one request with its body. [go_on] sends what
    tells a client to go on that asks before it sends the body.

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

val to_string : ?head_only:bool -> keep_alive:bool -> answer -> string
(** What is sent. [head_only] leaves the body out, as for [HEAD]. *)
