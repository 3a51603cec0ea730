(** Persistent FIFO queue of waiters, some of which have left.

    A waiter that leaves is only counted here. When more than half of the queue
    are gone it is rebuilt without them: leaving costs O(1) amortised, and the
    queue is never longer than twice the live waiters, plus one. *)

type ('x, 'a) t

val empty : ('x, 'a) t
val is_empty : ('x, 'a) t -> bool

val length : ('x, 'a) t -> int
(** How many waiters there are, without those that were reported as gone: exact
    unless waiters leave while others do or are resumed. O(1). *)

val push : ('x, 'a) t -> ('x, 'a) Waiter.t -> ('x, 'a) t
(** O(1). *)

val head : ('x, 'a) t -> ('x, 'a) Waiter.t
(** The waiter that came first. O(1).
    @raise Invalid_argument if the queue is empty. *)

val tail : ('x, 'a) t -> ('x, 'a) t
(** The queue without {!head}, which is not counted as gone any more if it is
    not live. If those that are left are all gone, it is empty. O(1) amortised.
    @raise Invalid_argument if the queue is empty. *)

val withdraw : ('x, 'a) t -> ('x, 'a) t
(** Counts one waiter of the queue as gone, after it left. *)

val iter : (('x, 'a) Waiter.t -> unit) -> ('x, 'a) t -> unit
(** In the order of arrival. *)

val exists : (('x, 'a) Waiter.t -> bool) -> ('x, 'a) t -> bool

(** {2 Resuming all}

    In the order of arrival. A signal handler that raises meanwhile does not
    keep anybody from being resumed; its exception is raised in the end. *)

type ('x, 'a) round
(** Waiters that are to be resumed with one outcome. *)

val round : ('x, 'a) t -> ('a, exn) result -> ('x, 'a) round
(** To be made before the waiters are taken out of their structure, so that
    there is no polling point between that and {!resume_all}. O(waiters that
    came since the last look at the head). *)

val resume_all : ('x, 'a) round -> unit

val resume_both : ('x, 'a) round -> ('y, 'b) round -> unit
(** The first, then the second. *)
