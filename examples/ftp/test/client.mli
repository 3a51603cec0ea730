(** A client that can do anything, right or wrong. It fails if the server
    doesn't respond within 20 s. *)

type t

val open_ : int -> t
(** Connects to a port of this machine. *)

val connect : int -> t
(** {!open_}, then receives the greeting. *)

val login : int -> t
(** {!connect}, then logs in. *)

val logins : int -> int -> t list
(** [logins port n] are [n] clients that log in at the same time. *)

val code : t -> string -> int
(** Sends a command, and returns the code of the reply, or -1 if the server has
    hung up. *)

val reply : t -> string
(** Returns the next line, without its end. Sends no command. *)

val ask_all : t list -> string -> string list
(** Sends a command for each client, then returns the reply to each. *)

val write : t -> string -> unit
(** Sends these bytes. *)

val send : t -> string -> unit
(** Sends a command without waiting for a reply. *)

val data : t -> Unix.file_descr
(** Opens a data connection by EPSV. *)

val receive : Unix.file_descr -> string
(** Receives until the end, and closes the connection. *)

val retrieve : t -> string -> int * string
(** Returns the code of the last reply, and the data. *)

val retrieve_all : t list -> string -> (int * string) list
(** {!retrieve} for all of these clients at the same time. The data of each have
    to fit into the buffers of a connection. *)

val store : t -> string -> string -> int
(** Returns the code of the last reply. *)

val reset : Unix.file_descr -> unit
(** Closes a connection by a reset. *)

val close : t -> unit
