(** A client that sends whatever bytes it likes. *)

type t

val connect : int -> t
(** To a port of this machine. *)

val send : t -> string -> unit
val close : t -> unit

val reset : t -> unit
(** Closes the connection without the usual farewell. *)

type answer = { status : int; headers : (string * string) list; body : string }

val receive : ?head_only:bool -> t -> answer
(** One answer; the headers' names are in lower case. *)

val check_silent : t -> unit
(** Nothing comes from the server, for a while. *)

val check_closed : t -> unit
(** The server has closed the connection, and has sent nothing more. *)

val trickle : t -> string -> unit
(** Sends this again and again, one byte at a time, until the server says
    something; fails after a while. *)

val flood : t -> string -> unit
(** Sends this again and again, as fast as possible, and reads nothing, until
    the server breaks the connection; fails after a while. *)
