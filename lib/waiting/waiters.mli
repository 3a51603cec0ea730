(** Persistent FIFO queue of waiters, some of which are withdrawn.

    {b Stability}: experimental, may change in any release.

    A waiter that is withdrawn is only counted here, unless the queue is long
    and it came last: then it is taken out. When more than half of the queue are
    withdrawn, the queue is rebuilt without them: withdrawing costs O(1)
    amortised, and the queue is never longer than twice the live waiters, plus
    one. (In the papers cancelled waiters stay, which the thesis calls a space
    leak.)

    None of these functions suspends or performs an effect.

    @canonical Concord.Tools.Structure_kit.Waiters *)

type ('x, 'a) t
(** Waiters that wait with an ['x] for an ['a]. *)

val empty : ('x, 'a) t
val is_empty : ('x, 'a) t -> bool

val length : ('x, 'a) t -> int
(** How many waiters there are, without those that were counted as withdrawn.
    Exact unless a waiter withdraws while others withdraw or are resumed. O(1).
*)

val push : ('x, 'a) t -> ('x, 'a) Waiter.t -> ('x, 'a) t
(** Adds a waiter at the end. O(1). *)

val push_first : ('x, 'a) t -> ('x, 'a) Waiter.t -> ('x, 'a) t
(** Adds a waiter before all others. O(1) amortised. *)

val head : ('x, 'a) t -> ('x, 'a) Waiter.t
(** The waiter that came first. O(1).

    - {b Raises} [Invalid_argument] if the queue is empty. *)

val tail : ('x, 'a) t -> ('x, 'a) t
(** The queue without {!head}. If the head was withdrawn, the count is one less.
    If all that remain are withdrawn, the result is empty. O(1) amortised.

    - {b Raises} [Invalid_argument] if the queue is empty. *)

val count_withdrawn : ('x, 'a) t -> ('x, 'a) t
(** Counts one more waiter of the queue as withdrawn, after
    {!Waiter.mark_withdrawn}. O(1) amortised. *)

val iter : (('x, 'a) Waiter.t -> unit) -> ('x, 'a) t -> unit
(** In the order of arrival, those that are withdrawn included. O(n). *)

val exists : (('x, 'a) Waiter.t -> bool) -> ('x, 'a) t -> bool
(** Those that are withdrawn included. O(n). *)

val to_list : ('x, 'a) t -> ('x, 'a) Waiter.t list
(** In the order of arrival, those that are withdrawn included. O(n) for the [n]
    that came since the last look at the head. *)
