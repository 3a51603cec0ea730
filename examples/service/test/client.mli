(** Clients of the service, in Lwt. One that can't connect, or whose connection
    is cut, gets [None]. *)

type answer = { status : int; body : string }

val post : int -> int -> answer option Lwt.t
(** [post port n]. *)

val get : int -> string -> answer option Lwt.t
val delete : int -> int -> answer option Lwt.t

val events : int -> (string -> bool) -> unit Lwt.t
(** [events port f] calls [f] with each line of [/events] until it is [false] or
    the connection ends. *)

val hang_up : int -> string -> unit Lwt.t
(** [hang_up port text] sends [text] and closes the connection at once. *)

val request : string -> string
(** The text of a GET of this path. *)

val connected :
  ?receive_buffer:int ->
  int ->
  string ->
  (Lwt_io.input_channel -> 'a Lwt.t) ->
  'a Lwt.t
(** [connected port text f] sends [text] and is [f] of what comes back. The
    system keeps only about [receive_buffer] bytes for [f] to read. Fails where
    the connection does. *)
