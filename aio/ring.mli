(** Linux's [io_uring], by way of [uring], if that was installed. *)

val create : unit -> 'a Multiplexer.t option
(** [None] where the system has none, or does not allow it. [wait] is O(1) for
    each descriptor that is found.

    - {b Raises} [Unix.Unix_error] if no descriptor is left. *)
