(** A client for Redis, written in direct style from the beginning. Tasks of all
    hosts and domains share its connections. *)

type t

type reply =
  | Text of string
  | Number of int
  | Nil
  | List of reply list
  | Error of string  (** The server refuses the command. *)

val create : ?connections:int -> ?patience:float -> Unix.sockaddr -> t
(** [create address] is a client with up to [connections], 10 by default, which
    are made when they are needed. A connection is made in [patience] seconds, 5
    by default, or its command raises [Failure]. *)

val command : t -> string list -> reply
(** [command t words] is the answer to a command, such as [["GET"; "key"]].

    - {b Suspends} until the answer has come.
    - {b Cancelled} meanwhile, it closes the connection, because the answer is
      still on its way. The command may have been performed.
    - {b Raises} [End_of_file] or [Unix.Unix_error] if the connection fails. *)

val connections : t -> int
(** [connections t] is the number of open connections. *)

val close : t -> unit
(** [close t] closes the idle connections, and the others when their commands
    have ended. *)
