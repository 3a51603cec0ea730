(** A multiplexer by Linux's [io_uring], by way of [uring], if that was
    installed. *)

val create : unit -> Multiplexer.t option
(** [None] if the system has none, or does not allow it. [wait] is O(log n) for
    each descriptor that is found.

    - {b Raises} [Unix.Unix_error] if no descriptor is left. *)
