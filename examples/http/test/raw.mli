(** A client that can send any bytes. *)

type t

val connect : ?receive_buffer:int -> int -> t
(** Connects to a port of this machine. *)

val send : t -> string -> unit
val close : t -> unit

val reset : t -> unit
(** Closes the connection by a reset. *)

type answer = { status : int; headers : (string * string) list; body : string }

val receive : ?head_only:bool -> t -> answer
(** Receives one answer. The names of the headers are in lower case. *)

val check_silent : t -> unit
(** Checks that the server sends nothing for a while. *)

val check_closed : t -> unit
(** Checks that the server has closed the connection, and has sent nothing more.
*)

val drain : t -> unit
(** Reads until the server closes the connection, and then closes it, too. *)

val trickle : t -> string -> unit
(** Sends the text again and again, one byte at a time, until the server
    answers. It fails after some time. *)

val fill : t -> string -> unit
(** Sends this text again and again, until the server no longer reads. *)

val flood : t -> string -> unit
(** Sends the text again and again, as fast as possible, and reads nothing,
    until the server breaks the connection. It fails after some time. *)
