(** A connection with a buffer for reading and one for writing. One task uses it
    at a time. *)

type t = {
  fd : Unix.file_descr;
  reader : Concord_buffered.Reader.t;
  writer : Concord_buffered.Writer.t;
}

val connect : Unix.sockaddr -> t
(** [connect address] is a new connection. If it fails or is cancelled, nothing
    stays open. *)

val of_descr : Unix.file_descr -> t
(** [of_descr fd] is the connection of the socket [fd], which {!close} closes.
*)

val close : t -> unit
(** [close t] closes the socket, also in a cancelled task. It drops what was not
    flushed. *)
