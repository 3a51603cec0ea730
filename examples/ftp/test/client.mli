(** A client that does what it likes. What the server doesn't do within 20 s
    fails. *)

type t

val open_ : int -> t
(** To a port of this machine. *)

val connect : int -> t
(** {!open_}, and receives the greeting. *)

val login : int -> t
(** {!connect}, and logs in. *)

val code : t -> string -> int
(** Sends a command, and gives the code of the reply, or -1 if the server has
    hung up. *)

val reply : t -> string
(** The next line, without its end and without a command. *)

val write : t -> string -> unit
(** These bytes. *)

val send : t -> string -> unit
(** A command, without waiting for a reply. *)

val data : t -> Unix.file_descr
(** A data connection, by EPSV. *)

val receive : Unix.file_descr -> string
(** Up to the end, and closes it. *)

val retrieve : t -> string -> int * string
(** The last reply, and what came. *)

val store : t -> string -> string -> int
(** The last reply. *)

val reset : Unix.file_descr -> unit
(** Closes a connection without the usual farewell. *)

val close : t -> unit
