(** The words of the environment variable [CONCORD_AIO], between commas. *)

type multiplexer = Poll | Io_uring

type t = {
  multiplexer : multiplexer option;
      (** [poll] or [io_uring], or [None] if it has neither. *)
  domain : bool;  (** [domain] gives the shared poller a domain of its own. *)
}

val read : unit -> t
(** - {b Raises} [Failure] if a word is unknown, or contradicts another one. *)
