(** A minimal HTTP client. It sends one request at a time on a connection that
    is kept alive. *)

type t

val connect :
  sw:Eio.Switch.t ->
  [ `Unix | `Generic ] Eio.Net.ty Eio.Resource.t ->
  Eio.Net.Sockaddr.stream ->
  t
(** A connection that is closed with [sw], at the latest. *)

val get : t -> string -> (string * string) list
(** [get t path] returns the headers of the answer, with names in lower case.

    @raise Failure if the status is not 200, or if there is no valid answer. *)

val usable : t -> bool
(** [false] once {!get} has raised. *)

val close : t -> unit
