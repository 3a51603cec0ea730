(** What became ready elsewhere, and the bell that wakes the loop for it (H4).

    Any number of threads post; one thread, the {e owner}, runs the loop that
    serves. The bell is rung only for a loop that sleeps, and once for all that
    is posted until it serves again. *)

type 'a t

val create : unit -> 'a t
(** Empty, and awake. *)

(** {2 For any thread} *)

val post : 'a t -> 'a -> unit
(** [post t x] puts [x] behind what was posted before, and rings the bell if the
    owner sleeps. It never blocks. If a signal handler raises meanwhile, either
    nothing has happened, or [x] is posted and the bell rung; then the exception
    is raised.
    - {b Cost}: O(1), a compare-and-set, and the bell's. *)

val ring : 'a t -> unit
(** Wakes the owner if it sleeps, without a message: for a loop that has further
    queues.
    - {b Cost}: a read, if the owner does not sleep. *)

(** {2 For the owner} *)

val is_empty : 'a t -> bool
(** Nothing is posted that was not served. *)

val is_posted : 'a t -> bool
(** As [not (is_empty t)], faster, for a loop that calls {!serve} first whenever
    it is entered again after an exception. *)

val serve : 'a t -> ('a -> unit) -> bool
(** [serve t f] calls [f] for all that was posted before the call, in the order
    in which it was posted; [false] if that was nothing. Each message is removed
    before its call. If [f] raises, or does not return, those that are left stay
    for the next [serve]. [f] may call [serve]. *)

val sleep : 'a t -> (unit -> unit) -> bool
(** [sleep t bell] announces that the owner sleeps, unless something is posted:
    then it is [false], and nothing has changed. [bell] will be called by
    whoever posts or rings first, once, by any thread, and perhaps before
    [sleep] has returned. It does not block; it may be called a second time if a
    signal handler raised in the first. A loop that has further queues looks at
    them again after this, and calls {!wake} if there is something. *)

val wake : 'a t -> bool
(** The owner is awake. [false] if the bell was called, or will be at once. *)
