(** A persistent first-in, first-out queue of waiters.

    {b Stability}: experimental, because it shows how the library works inside,
    and a faster wait may change it.

    A waiter that is withdrawn usually stays in its queue, and is only counted.
    (If the queue is long and the waiter came last, it is removed.) When more
    than half of a queue are withdrawn, the queue is rebuilt without them. So
    withdrawing takes amortised O(1) time, and the queue is never longer than
    twice the number of live waiters, plus one. (In the papers, cancelled
    waiters stay in the queue, which the thesis calls a space leak.)

    {[
      # open Concord.Tools.Structure_kit
      # let queue = List.fold_left Waiters.push Waiters.empty in
        let t = queue [ Waiter.make "a"; Waiter.make "b" ] in
        ((Waiters.head t).arg, Waiters.length (Waiters.tail t))
      - : string * int = ("a", 1)
    ]}

    None of these functions suspends or performs an effect.

    @canonical Concord.Tools.Structure_kit.Waiters *)

type ('x, 'a) t
(** A queue of waiters with arguments of type ['x] and results of type ['a]. *)

val empty : ('x, 'a) t
(** [empty] is the empty queue. *)

val is_empty : ('x, 'a) t -> bool
(** [is_empty t] is [true] if no waiter is in [t]. *)

val length : ('x, 'a) t -> int
(** [length t] is the number of waiters, without those that were counted as
    withdrawn.

    It is exact, unless a waiter withdraws while others withdraw or are resumed.
    O(1). *)

val size : ('x, 'a) t -> int
(** [size t] is the number of waiters that are in the queue, including the
    withdrawn ones. It is always exact. O(1). *)

(** {2 Adding and removing} *)

val push : ('x, 'a) t -> ('x, 'a) Waiter.t -> ('x, 'a) t
(** [push t w] adds [w] at the end. O(1). *)

val push_first : ('x, 'a) t -> ('x, 'a) Waiter.t -> ('x, 'a) t
(** [push_first t w] adds [w] before all others. Amortised O(1). *)

val head : ('x, 'a) t -> ('x, 'a) Waiter.t
(** [head t] is the waiter that came first. O(1).

    - {b Raises} [Invalid_argument] if the queue is empty. *)

val tail : ('x, 'a) t -> ('x, 'a) t
(** [tail t] is the queue without its {!head}.

    If the head was withdrawn, the count is one less. If all the others are
    withdrawn, the result is empty. Amortised O(1).

    - {b Raises} [Invalid_argument] if the queue is empty. *)

val count_withdrawn : ('x, 'a) t -> ('x, 'a) t
(** [count_withdrawn t] counts one more waiter of the queue as withdrawn.

    Call it after {!Waiter.mark_withdrawn}. Amortised O(1). *)

(** {2 All waiters} *)

val iter : (('x, 'a) Waiter.t -> unit) -> ('x, 'a) t -> unit
(** [iter f t] calls [f] for each waiter in the order in which they arrived,
    including the withdrawn ones. O(n). *)

val exists : (('x, 'a) Waiter.t -> bool) -> ('x, 'a) t -> bool
(** [exists f t] is [true] if [f w] is [true] for a waiter [w] of the queue,
    including the withdrawn ones. O(n). *)

val to_list : ('x, 'a) t -> ('x, 'a) Waiter.t list
(** [to_list t] is the list of waiters in the order in which they arrived,
    including the withdrawn ones. O(n) for the [n] waiters that came since
    {!head} was last read. *)
