(** Clients of the service, in Lwt. A client that can't connect, or whose
    connection is cut, gets [None]. *)

type answer = { status : int; body : string }

val call : ?body:string -> string -> int -> string -> answer option Lwt.t
(** [call meth port path] sends a request. *)

val post : int -> int -> answer option Lwt.t
(** [post port n] posts the number [n]. *)

val get : int -> string -> answer option Lwt.t
val delete : int -> int -> answer option Lwt.t

val events : int -> (string -> bool) -> unit Lwt.t
(** [events port f] calls [f] with each line of [/events], until [f] returns
    [false] or the connection ends. *)

val hang_up : int -> string -> unit Lwt.t
(** [hang_up port text] sends [text] and closes the connection at once. *)

val request : string -> string
(** The text of a GET request for this path. *)

val connected :
  ?receive_buffer:int ->
  int ->
  string ->
  (Lwt_io.input_channel -> 'a Lwt.t) ->
  'a Lwt.t
(** [connected port text f] sends [text], and calls [f] with the input. The
    system buffers only about [receive_buffer] bytes for [f]. It fails if the
    connection fails. *)
