(** What the server needs of the library it runs on: sockets, and tasks.

    All else is Concord's, and so the same in Eio and in Lwt: time limits, the
    number of connections, the signal to end. Each operation below that waits is
    given a limit or an event, and gives up when that is reached first. *)

type connection = {
  read : limit:Limit.t -> string option;
      (** What has come, [""] if no more will; [None] if the limit was first. *)
  write : limit:Limit.t -> string -> bool;
      (** Was all of it sent? Not if the client is gone, or the limit was first.
      *)
  shutdown : unit -> unit;  (** Sends the end. What comes can still be read. *)
  close : unit -> unit;
}
(** These raise nothing, whatever the client does. *)

exception Cannot_accept of string
(** For lack of descriptors, say. *)

type t = {
  accept : unless:unit Concord.Event.t -> connection option;
      (** [None] if the event was first.
          @raise Cannot_accept if that fails, perhaps only for now. *)
  fork : (unit -> unit) -> unit;  (** Runs it in a task of its own. *)
  close : unit -> unit;  (** Accepts no more. *)
}
(** A socket that listens. *)
