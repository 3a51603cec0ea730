(** Serves one client. Its requests are answered in order, one after the other,
    until one side closes the connection. *)

open Http_message

type config = {
  idle_timeout : float;  (** The seconds to wait for a request. *)
  transfer_timeout : float;
      (** The seconds within which a request must have arrived, or an answer
          must have been sent. *)
  drain : unit Concord.Promise.t;
      (** Once it is filled, every connection ends after the request in
          progress, or at once if there is none. *)
  log : string -> unit;
      (** Logs faults of the server, not those of a client. If a handler raises,
          the text is the request, the exception, and its backtrace, one line
          for each frame. *)
}

val serve :
  config ->
  (Http.Request.t -> string -> Message.answer) ->
  Host.connection ->
  unit
(** [serve config handle socket] returns when the connection has ended. The
    caller has to close the socket. [serve] doesn't raise, whatever a client
    does. *)
