(** The real server as a child process. *)

exception Failed of string
(** The server failed to start or to stop. The text says why. *)

type t

val address : t -> Eio.Net.Sockaddr.stream

val cpu_seconds : t -> float option
(** The processor time of the server so far, if the system provides it. *)

val with_server :
  Eio_unix.Stdenv.base ->
  binary:string ->
  variant:string ->
  domains:int ->
  (t -> 'a) ->
  'a
(** Starts a server on a free port, and stops it afterwards with SIGTERM. The
    server never outlives the call, even if it raises.

    @raise Failed if the server does not start or stop properly. *)
