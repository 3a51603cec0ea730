(** Before a task waits for another domain to add to a long stream, or to take
    from it: letting items, or room, gather. *)

val length : 'a Stream_nodes.t -> int
(** How many items there were at some moment. *)

val items : 'a Stream_nodes.t -> unit
(** For a task that has found none: keeps off for a moment, if the last ones
    have found some items after it ({!Spin.gather}). *)

val room : 'a Stream_nodes.t -> unit
(** For one that has found no room, likewise. *)
