(** Persistent FIFO queue of waiters, some of which have withdrawn.

    A waiter that withdraws marks itself and is only counted here. When more
    than half of the queue are gone it is rebuilt without them: withdrawing
    costs O(1) amortised, and the queue is never longer than twice the live
    waiters, plus one. *)

type 'w t

val empty : 'w t
val is_empty : 'w t -> bool

val length : 'w t -> int
(** How many waiters there are, without those that were reported as gone. O(1).
*)

val push : 'w t -> 'w -> 'w t
(** O(1). *)

val head : 'w t -> 'w
(** The waiter that came first. O(1).
    @raise Invalid_argument if the queue is empty. *)

val tail : live:('w -> bool) -> 'w t -> 'w t
(** The queue without {!head}, which is not counted as gone any more if it is
    not [live]. O(1) amortised.
    @raise Invalid_argument if the queue is empty. *)

val withdraw : live:('w -> bool) -> 'w t -> 'w t
(** Counts one waiter of the queue as gone, after it became not [live]. *)

val iter : ('w -> unit) -> 'w t -> unit
(** In the order of arrival. *)
