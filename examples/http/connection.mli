(** One client: its requests are answered one after the other, in order, until
    one side has had enough. *)

type config = {
  idle_timeout : float;  (** Seconds to wait for a request. *)
  transfer_timeout : float;
      (** Seconds in which a request must have come, and an answer gone. *)
  drain : unit Concord.Promise.t;
      (** Once it is filled, every connection ends after the request in
          progress, or at once if there is none. *)
  log : string -> unit;
      (** For what is the server's fault, not a client's. If a handler raises,
          the text is the request, the exception, and then its backtrace, one
          line for each frame. *)
}

val serve :
  config -> (Http.Request.t -> Message.answer) -> Host.connection -> unit
(** [serve config handle socket] returns when the connection is over, and leaves
    it to the caller to close the socket. Whatever a client does, [serve] does
    not raise. *)
