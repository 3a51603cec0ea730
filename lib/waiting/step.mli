(** Steps: what an operation does to a structure, as a pure function of the
    structure's state.

    A structure is an [Atomic] word that holds an immutable state. For each
    operation it has a {e step}: a function from the argument and the state to
    what has to be done. A step changes nothing, resumes nobody and looks at
    nothing but its arguments, so it can be called again at any time. The driver
    in this module does the rest, once for all structures: it commits the new
    state, starts again if another task was faster, resumes waiters, and follows
    the chain of what comes next.

    For example, a box that holds at most one value, whose takers wait:

    {[
    let put v = function
      | Full _ -> Wait
      | Empty takers when Waiters.is_empty takers -> Return (Full v, ())
      | Empty takers ->
          Hand_over
            {
              state = Empty (Waiters.tail takers);
              waiter = Waiters.head takers;
              outcome = Ok v;
              accepted = Done ();
              refused = Again;
            }
    ]}

    {b Interruption.} A signal handler may raise almost anywhere. Whatever is
    raised, an operation has happened completely or not at all: once the first
    change is committed, the driver completes all that follows from it, and only
    then raises.

    No function here suspends or performs an effect. All can be called from any
    domain and thread, and in signal handlers. *)

(** What an operation has to do in the state that the step was given. *)
type ('s, 'r) t =
  | Wait  (** It cannot be done now, so the task has to wait. *)
  | Raise of exn
      (** The operation ends with this exception, and changes nothing. A step
          does not raise it itself: whatever is raised in a step is taken for
          the exception of a signal handler, and the step is called again. *)
  | Return of 's * 'r
      (** The state becomes this one, and that was all: the operation has this
          result. If it is physically the same state, nothing is written. *)
  | Become of 's * ('s, 'r) next  (** The same, but then [next] follows. *)
  | Hand_over : {
      state : 's;  (** The state without the waiter. *)
      waiter : ('x, 'a) Waiter.t;
      outcome : ('a, exn) result;
      accepted : ('s, 'r) next;
      refused : ('s, 'r) next;
    }
      -> ('s, 'r) t
      (** The state becomes this one, and then the waiter is resumed with
          [outcome]. A waiter refuses if it was cancelled, or if its choice took
          another alternative. If its resumer raises, the waiter has accepted.
      *)

(** What follows a change. *)
and ('s, 'r) next =
  | Done of 'r  (** The operation is complete, and this is its result. *)
  | Again
      (** The step that led here is called again, with the state as it is then.
      *)
  | Then of ('s -> ('s, 'r) t)  (** Another step of the same word. *)
  | At :
      'u Atomic.t * ('u -> ('u, 'v) t) * ('v -> ('s, 'r) next)
      -> ('s, 'r) next
      (** A step of another word, with all that follows from it. Its result
          tells what comes next here. That step must neither be {!Wait} nor
          {!Raise}. *)
  | Resume_all :
      ('x, 'a) Waiter.t list * ('a, exn) result * ('s, 'r) next
      -> ('s, 'r) next
      (** All these waiters are resumed in this order, whatever they answer. To
          be made by {!resume_all}. *)
  | Count_resumed : (int -> ('s, 'r) next) -> ('s, 'r) next
      (** What follows depends on how many waiters {!Resume_all} has resumed in
          this operation. A task that was cancelled and is not unwound yet
          counts. An alternative counts only if its choice took it. *)

val finished : ('s, unit) next
(** [Done ()]. *)

val resume_all :
  ('x, 'a) Waiters.t -> ('a, exn) result -> ('s, 'r) next -> ('s, 'r) next
(** [resume_all waiters outcome next]: all of the queue are resumed, and then
    [next] follows. O(n). *)

(** {2 Performing a step}

    Each of these takes the step and its argument separately, so that no closure
    is allocated. {b Cost}: that of the step and one compare-and-set; each
    failed compare-and-set costs a moment of {!Backoff} and another try. *)

val attempt : 's Atomic.t -> ('x -> 's -> ('s, 'r) t) -> 'x -> 'r option
(** [attempt word step x] performs the step. The result is [None] if it is
    {!Wait}. Then nothing was done, except that waiters which refused are out of
    their queue.

    - {b Raises} [e] if the step is [Raise e], and what a signal handler or a
      resumer raises: then nothing was done, or all. *)

val perform : 's Atomic.t -> ('x -> 's -> ('s, 'r) t) -> 'x -> 'r
(** As {!attempt}, for a step that never waits.

    - {b Raises} [Invalid_argument] if it does. *)

val surely : 's Atomic.t -> ('x -> 's -> ('s, 'r) t) -> 'x -> 'r
(** As {!perform}, but when [surely] returns or raises, all was done. For giving
    back what the task has taken.

    [step] has to be a function that exists already: if the caller allocated a
    closure for it here, a signal handler could raise before the call. *)

(** {2 Giving back what was taken}

    A structure calls these right after it has taken something. No signal
    handler runs between the change that took it and [f]. [fast word x] is a
    fast path of the step: one compare-and-set with the same effect where nobody
    waits, or [false]. *)

val give_back :
  fast:('s Atomic.t -> 'x -> bool) ->
  's Atomic.t ->
  ('x -> 's -> ('s, unit) t) ->
  'x ->
  unit
(** [give_back ~fast word step x] performs the step {!surely}, by the fast path
    if that is [true]. *)

val within :
  fast:('s Atomic.t -> 'x -> bool) ->
  's Atomic.t ->
  ('x -> 's -> ('s, unit) t) ->
  'x ->
  (unit -> 'b) ->
  'b
(** [within ~fast word step x f] is [f ()]. Whatever ends [f], [step] is
    performed {!surely} before [within] returns the result, or raises the
    exception with its backtrace.

    - {b Raises} [e] if [f ()] raises [e]. Otherwise what [surely] raises. *)

val replacing :
  fast:('s Atomic.t -> 'a -> bool) ->
  's Atomic.t ->
  ('a -> 's -> ('s, unit) t) ->
  ('a -> 'a * 'b) ->
  'a ->
  'b
(** [replacing ~fast word step f old] gives back the value that [f old] puts in
    the place of [old], or [old] if [f old] raises. Otherwise it is as
    {!within}. *)

(** {2 Waiting} *)

type ('s, 'x, 'a) queue =
  (('x, 'a) Waiters.t -> ('x, 'a) Waiter.t -> ('x, 'a) Waiters.t) ->
  ('x, 'a) Waiter.t ->
  's ->
  's
(** [queue change w state] is [state] in which [change waiters w] has replaced
    [waiters], the queue in which [w] waits. It is [state] itself if [w] can't
    wait in this state. *)

(** The two that follow are for {!Operation}. *)

val enlist :
  's Atomic.t ->
  ('x -> 's -> ('s, 'a) t) ->
  ('s, 'x, 'a) queue ->
  ('x, 'a) Waiter.t ->
  bool
(** Puts the waiter into its queue if its step is {!Wait}, or would be {!Wait}
    after the waiters that refuse it: alternatives of its own choice. Otherwise
    it does nothing and is [false]. *)

val withdraw :
  's Atomic.t ->
  ('s, 'x, 'a) queue ->
  ('s, unit) next ->
  ('x, 'a) Waiter.t ->
  unit
(** Counts a waiter that was enlisted as gone, once, and does what follows. *)

val leave : 's Atomic.t -> _ Waiter.t -> ('s -> 's) -> unit
(** [leave word w f] replaces the state by [f] of it; then [w] is gone, and not
    counted again. *)

(** {2 A chain that begins with a change made by hand}

    For a fast path that finds more to do than one compare-and-set. *)

type 'r owed

val owing : 's Atomic.t -> ('s, 'r) next -> 'r owed
(** What follows the change. It has to be made before the change, because a
    signal handler may raise where something is allocated. [next] does not begin
    with {!Again}. *)

val pay : 'r owed -> 'r
(** Does it. It has to be called right after the change. *)
