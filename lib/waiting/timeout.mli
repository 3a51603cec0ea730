(** Waiting until a time: an operation like that of any structure. *)

type t
(** One wait. A choice may enlist it again: the deadline stays as it was. *)

val create : unit -> t
(** A wait that has not begun, and so has no deadline yet. *)

val passing : (t, float, unit) Operation.t
(** Performed when so many seconds have passed since the operation was first
    enlisted; at once if they are not positive. O(log n) for [n] pending
    timeouts. Enlisting raises what {!Timer.at} does. *)
