(** What the environment variable [CONCORD_AIO] asks for: words between commas.
*)

type multiplexer = Poll | Io_uring

type t = {
  multiplexer : multiplexer option;
      (** [poll] or [io_uring]; [None] if it has neither. *)
  domain : bool;  (** [domain]: the shared poller has a domain of its own. *)
}

val read : unit -> t
(** - {b Raises} [Failure] if a word is unknown, or contradicts another one. *)
