(** HTTP/1.1 on Eio. Cohttp reads and writes the messages. *)

type answer =
  | Text of Cohttp.Code.status_code * string
  | Page of string  (** HTML. *)
  | Events of ((string -> unit) -> unit)
      (** [Events f]: [f send] sends server-sent events until it returns. It is
          cancelled when the client closes the connection. *)

val listen : port:int -> Unix.file_descr
(** A socket on the loopback address that several domains can share. [port] may
    be 0. *)

val port : Unix.file_descr -> int

val serve :
  Eio.Switch.t ->
  stop:_ Concord.Promise.t ->
  Unix.file_descr ->
  (Cohttp.Request.t -> string -> answer) ->
  unit
(** [serve sw ~stop socket handle] answers requests by [handle request body], in
    a fiber for each connection. Once [stop] is resolved, it accepts no more
    connections, and returns when the requests in progress have been answered.
*)
