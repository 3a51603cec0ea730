(** The sockets and tasks of the library that the server runs on.

    Everything else is Concord's, so it is the same in Eio and in Lwt: time
    limits, the number of connections, the signal to stop. Each operation below
    that waits has a limit or an event, and stops waiting when that comes first.
*)

type connection = {
  read : limit:Limit.t -> string option;
      (** The bytes that have arrived, or [""] at the end of the input. [None]
          if the limit came first. *)
  write : limit:Limit.t -> string -> bool;
      (** Whether all of it was sent. It is [false] if the client has
          disconnected, or if the limit came first. *)
  shutdown : unit -> unit;
      (** Sends the end of the stream. Input can still be read. *)
  close : unit -> unit;
}
(** These functions raise nothing, whatever the client does. *)

exception Cannot_accept of string
(** For example, no descriptor is left. *)

type t = {
  accept : unless:unit Concord.Event.t -> connection option;
      (** [None] if the event came first.

          @raise Cannot_accept if accepting fails, perhaps only temporarily. *)
  fork : (unit -> unit) -> unit;  (** Runs the function in a new task. *)
  close : unit -> unit;  (** Accepts no more connections. *)
}
(** A listening socket. *)
