(** Waiting for some time, as an operation like that of any structure. *)

type t
(** One wait. If a choice enlists it again, the deadline stays as it was. *)

val create : unit -> t
(** [create ()] returns a wait that has not begun, so that it has no deadline
    yet. *)

val passing : (t, float, unit) Operation.t
(** [passing] is performed when the given number of seconds has passed since it
    was first enlisted. If the number is not positive, it is performed at once.
    It takes O(log n) time for [n] pending timeouts. Enlisting raises the
    exceptions of {!Timer.at}. *)
