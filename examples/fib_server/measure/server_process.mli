(** The real server as a child process. *)

exception Failed of string
(** It did not start, or did not end, as it should. *)

type t

val address : t -> Eio.Net.Sockaddr.stream

val cpu_seconds : t -> float option
(** The processor time that it took so far, where the system tells. *)

val with_server :
  Eio_unix.Stdenv.base ->
  binary:string ->
  variant:string ->
  domains:int ->
  (t -> 'a) ->
  'a
(** Starts a server on a free port and stops it afterwards with SIGTERM. It does
    not outlive the call, however that ends.

    @raise Failed *)
