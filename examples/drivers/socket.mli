(** A connection with a buffer for reading and one for writing. One task uses it
    at a time. *)

open Concord_buffered

type t = { reader : Reader.t; writer : Writer.t; close : unit -> unit }

val create :
  read:(bytes -> int -> int -> int) ->
  write:(bytes -> int -> int -> int) ->
  close:(unit -> unit) ->
  t
(** The functions are those of {!Reader.create} and {!Writer.create}. *)

val of_descr : Unix.file_descr -> t
(** [of_descr fd] is the connection of the socket [fd], which {!close} closes.
*)

val connect : ?over:(Unix.file_descr -> t) -> Unix.sockaddr -> t
(** [connect address] is a new connection. [over] makes it of the connected
    descriptor, for example by a TLS handshake, and is {!of_descr} by default.
    If it fails or is cancelled, nothing stays open. *)

val close : t -> unit
(** [close t] closes the socket, also in a cancelled task. It drops what was not
    flushed. *)
