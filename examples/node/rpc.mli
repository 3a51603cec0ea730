(** What clients may ask a node, by HTTP: a server of cohttp on Lwt's loop.

    The handlers are written in direct style: they run in {!Concord_lwt.direct},
    and where they wait for the chain or the pool, Lwt's loop serves others.

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
(** A socket of this host only. Port 0 is any free one.

    - {b Raises} [Unix.Unix_error] if the port is taken. *)

val serve :
  Chain.t ->
  Domainslib.Task.pool ->
  stop:unit Promise.t ->
  Unix.file_descr ->
  unit Lwt.t
(** [serve chain pool ~stop socket] answers requests until [stop] is resolved
    and the last request is answered. Then it closes [socket]. *)
