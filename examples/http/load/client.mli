(** The least HTTP client: one request at a time on a kept-alive connection. *)

type t

val connect :
  sw:Eio.Switch.t ->
  [ `Unix | `Generic ] Eio.Net.ty Eio.Resource.t ->
  Eio.Net.Sockaddr.stream ->
  t
(** A connection that is closed with [sw], at the latest. *)

val get : t -> string -> (string * string) list
(** [get t path] is the headers of the answer, with names in lower case.

    @raise Failure if the status is not 200, or the answer is none at all. *)

val usable : t -> bool
(** [false] once {!get} raised. *)

val close : t -> unit
