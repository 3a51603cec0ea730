(** The requests that clients send to a node by HTTP. The server of
    [examples/http] answers them, on Lwt's loop.

    The handlers are written in direct style and run in tasks of [Lwt_direct].
    While they wait for the chain or the pool, Lwt's loop serves other clients.

    {t
      | request                                       | answer                                                                           |
      |-----------------------------------------------|----------------------------------------------------------------------------------|
      | [POST /transactions], the transaction as body | [accepted]                                                                       |
      | [GET /head]                                   | the height and hash of the last block                                            |
      | [GET /status?transaction=T]                   | [confirmed in block N], [pending] or [unknown]                                   |
      | [GET /search?text=T]                          | all confirmed transactions that contain [T]                                      |
      | [GET /wait?height=N&transaction=T]            | [/head], once the chain is that high {e or} has [T]; status 504 after 30 seconds |
    } *)

open Concord

val listen : port:int -> Unix.file_descr
(** A socket on this host only. Port 0 takes any free port.

    - {b Raises} [Unix.Unix_error] if the port is taken. *)

val serve :
  Http_limits.t ->
  Chain.t ->
  Concord.Workers.t ->
  log:(string -> unit) ->
  stop:unit Promise.t ->
  Unix.file_descr ->
  unit Lwt.t
(** [serve limits chain pool ~log ~stop socket] answers requests until [stop] is
    resolved and the last request has been answered. It closes [socket] at once
    when [stop] is resolved. No client can end it. [log] gets faults of the
    server. *)
