(** Steps: what an operation does to a structure, as a pure function of the
    structure's state.

    {b Stability}: experimental, may change in any release.

    A structure is an [Atomic] word that holds an immutable state. Each
    operation has a {e step}: a function from the operation's argument and the
    current state to what has to be done. A step changes nothing, resumes no
    task and looks at nothing but its arguments, so it can be called again at
    any time. The driver in this module does the rest, once for all structures.
    It commits the new state, calls the step again if another task was faster,
    resumes waiters, and follows the chain of what comes next.

    For example, a box holds at most one value, and tasks wait to take it. [put]
    fills the box, or hands the value to the first taker. If that taker was
    cancelled it refuses the value, and [Again] offers it to the next one:

    {[
    # open Concord.Tools.Structure_kit
    # type 'a box = Full of 'a | Empty of (unit, 'a) Waiters.t
    type 'a box = Full of 'a | Empty of (unit, 'a) Waiters.t

    # let take () : _ box -> _ Step.t = function
        | Full v -> Return (Empty Waiters.empty, v)
        | Empty _ -> Wait
    val take : unit -> 'a box -> ('b box, 'a) Step.t = <fun>

    # let put v : _ box -> _ Step.t = function
        | Full _ -> Raise (Invalid_argument "put: the box is full")
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
    val put : 'a -> 'a box -> ('a box, unit) Step.t = <fun>
    ]}

    {2:rules Rules for steps}

    + {b A step doesn't raise.} It returns [Raise e] instead. After the first
      change the driver takes an exception for one of a signal handler, and
      calls the step again. So a step calls a function of the user, such as a
      comparison, only if that function doesn't raise.
    + {b Wait and Raise come before the first change.} Once something was
      changed, the steps that follow must not be {!Wait} or {!Raise}, because
      the operation could no longer be undone. A refusal is not a change. After
      it [Again] may lead to {!Wait} if nothing else was done.
    + {b A queue may hold waiters that are withdrawn.} A cancelled waiter stays
      in its queue for a while ({!Waiters}). Handing over to it is safe because
      it refuses. But a step that finds a first waiter which can't be served
      yet, and stops there, has to skip the waiters that are withdrawn first
      ({!Waiter.is_live}). Otherwise a cancelled waiter would block those behind
      it. For example, readers wait behind a writer that was cancelled.
    + {b Take a waiter out before you resume it.} In {!Hand_over} and before
      {!resume_all} the new state no longer contains the waiter.
    + {b The value that a waiter gives isn't seen} before the waiter has
      accepted. Put [waiter.arg] into the state in the step that follows
      [accepted].

    {2 Interruption}

    A signal handler may raise almost anywhere. Whatever is raised, an operation
    has happened completely or not at all. Once the first change is committed,
    the driver completes everything that follows from it, and only then raises.

    No function here suspends or performs an effect. All can be called from any
    domain and thread, and in signal handlers.

    @canonical Concord.Tools.Structure_kit.Step *)

(** {2 The answer of a step} *)

(** The answer of a step, in the state that it was given: it says what has to be
    done. *)
type ('s, 'r) t =
  | Wait
      (** The operation can't be performed now, so the task has to wait. Nothing
          is changed. *)
  | Raise of exn
      (** The operation ends with this exception. Nothing is changed. *)
  | Return of 's * 'r
      (** The state becomes this one, and the operation is complete with this
          result. If the state is physically the same, nothing is written. *)
  | Become of 's * ('s, 'r) next
      (** The state becomes this one, and then [next] follows. *)
  | Hand_over : {
      state : 's;  (** The state without the waiter. *)
      waiter : ('x, 'a) Waiter.t;
      outcome : ('a, exn) result;
      accepted : ('s, 'r) next;
      refused : ('s, 'r) next;
    }
      -> ('s, 'r) t
      (** The state becomes this one, and then the waiter is resumed with
          [outcome]. After that [accepted] or [refused] follows. A waiter
          refuses if it was cancelled, or if its choice took another
          alternative. It has consumed nothing then. If its resumer raises, the
          waiter has accepted. *)

(** The part of an operation that follows a change. *)
and ('s, 'r) next =
  | Done of 'r  (** The operation is complete, and this is its result. *)
  | Again
      (** The driver calls the step that it called last once more, with the
          state as it is then. That is the operation's own step until {!Then}
          has named another one, and that one afterwards. *)
  | Then of ('s -> ('s, 'r) t)
      (** The driver calls this step of the same word. It must not be {!Wait} or
          {!Raise}. *)
  | At :
      'u Atomic.t * ('u -> ('u, 'v) t) * ('v -> ('s, 'r) next)
      -> ('s, 'r) next
      (** [At (word, step, k)] performs a step of another word, with everything
          that follows from it. If its result is [v], [k v] follows here. The
          step must not be {!Wait} or {!Raise}. *)
  | Resume :
      ('x, 'a) Waiter.t * ('a, exn) result * (bool -> ('s, 'r) next)
      -> ('s, 'r) next
      (** [Resume (waiter, outcome, k)] resumes the waiter. [k true] follows if
          it has accepted, and [k false] if it refuses, as in {!Hand_over}. The
          state stays as it is. *)

val finished : ('s, unit) next
(** [Done ()]. *)

val resume_all :
  ('x, 'a) Waiters.t -> ('a, exn) result -> ('s, 'r) next -> ('s, 'r) next
(** [resume_all waiters outcome next] resumes all waiters of the queue in their
    order, whatever they answer. Then [next] follows. O(n). For example, all
    takers of the box above are told that nothing will come:

    {[
    # let fail e : _ box -> _ Step.t = function
        | Full _ as state -> Return (state, ())
        | Empty takers ->
            Become
              ( Empty Waiters.empty,
                Step.resume_all takers (Error e) Step.finished )
    val fail : exn -> 'a box -> ('a box, unit) Step.t = <fun>
    ]} *)

val resume_and_count :
  ('x, 'a) Waiters.t ->
  ('a, exn) result ->
  (int -> ('s, 'r) next) ->
  ('s, 'r) next
(** As {!resume_all}, but what follows depends on how many waiters were resumed.
    A task that was cancelled and is not unwound yet counts. An alternative
    counts only if its choice took it. *)

(** {2 Performing a step}

    Use {!surely} in functions that give back what the task holds, such as
    [unlock] and [release]. Use {!perform} in other operations that never wait,
    and {!attempt} in those named [try_].

    Each function takes the step and its argument separately, so that no closure
    is allocated. {b Cost}: that of the step and one compare-and-set. Each
    failed compare-and-set costs a short pause and another try. *)

val attempt : 's Atomic.t -> ('x -> 's -> ('s, 'r) t) -> 'x -> 'r option
(** [attempt word step x] performs the step. The result is [None] if the step is
    {!Wait}. Then nothing was done, except that waiters which refused are out of
    their queue.

    - {b Raises} [e] if the step is [Raise e]. If a signal handler or a resumer
      raises, [attempt] raises that, and the operation has happened completely
      or not at all. *)

val perform : 's Atomic.t -> ('x -> 's -> ('s, 'r) t) -> 'x -> 'r
(** As {!attempt}, for a step that is never {!Wait}.

    - {b Raises} [Invalid_argument] if it is. *)

val surely : 's Atomic.t -> ('x -> 's -> ('s, 'r) t) -> 'x -> 'r
(** As {!perform}, but when [surely] returns or raises, the operation has
    happened. {!perform} may raise before anything was done.

    [step] should be a function that exists already. If the caller allocated a
    closure for it here, a signal handler could raise before the call. *)

(** {2 Giving back what was taken}

    A structure calls these right after it has taken something. No signal
    handler runs between the change that took it and [f]. [fast word x] is a
    fast path of the step: one compare-and-set with the same effect where no
    task waits. If that is not possible, [fast] does nothing and returns
    [false]. *)

val give_back :
  fast:('s Atomic.t -> 'x -> bool) ->
  's Atomic.t ->
  ('x -> 's -> ('s, unit) t) ->
  'x ->
  unit
(** [give_back ~fast word step x] calls [fast word x], and performs the step
    {!surely} if that is [false]. *)

val within :
  fast:('s Atomic.t -> 'x -> bool) ->
  's Atomic.t ->
  ('x -> 's -> ('s, unit) t) ->
  'x ->
  (unit -> 'b) ->
  'b
(** [within ~fast word step x f] is [f ()]. Whatever ends [f], [step] is
    performed {!surely} before [within] returns the result, or raises the
    exception with its backtrace. Here [fast] must not allocate, nor end in a
    call, because a signal handler that raises in it would leave the structure
    held.

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
(** Where an operation's waiters are in the state: [queue change w state] is
    [state] with [change waiters w] in place of [waiters], the queue in which
    [w] waits. For [take] above it is this:

    {[
    # let takers change w = function
        | Full _ as state -> state
        | Empty takers -> Empty (change takers w)
    val takers :
      ((unit, 'a) Waiters.t -> 'b -> (unit, 'a) Waiters.t) ->
      'b -> 'a box -> 'a box = <fun>
    ]}

    The driver calls it to add a waiter, and to count a waiter that is
    withdrawn. In each state in which the operation's step is {!Wait}, [queue]
    has to apply [change]. Otherwise the task would wait in no queue, forever.
    In other states there may no longer be a queue. Then the result is [state]
    itself. *)

(** The two that follow are for [Operation], and for a structure whose tasks
    wait in another word than the one that the operation changes. *)

val enlist :
  's Atomic.t ->
  ('x -> 's -> ('s, _) t) ->
  ('s, 'x, 'a) queue ->
  ('x, 'a) Waiter.t ->
  bool
(** Puts the waiter into its queue if its step is {!Wait}, or would be {!Wait}
    after the waiters that refuse it: those that are withdrawn, and alternatives
    of its own choice. Otherwise it does nothing and is [false].

    The step shows that others refuse it by [refused = Again] in its first
    {!Hand_over}. *)

val withdraw :
  's Atomic.t ->
  ('s, 'x, 'a) queue ->
  ('s, unit) next ->
  ('x, 'a) Waiter.t ->
  unit
(** Counts an enlisted waiter as withdrawn, once. Then [next] follows, which
    doesn't begin with {!Again}. *)

(**/**)

(** For the library only. *)

val withdraw_by :
  's Atomic.t ->
  (('x, 'a) Waiter.t -> 's -> ('s, unit) t) ->
  ('x, 'a) Waiter.t ->
  unit
(** [withdraw_by word step w] performs the step {!surely}, which counts [w] as
    withdrawn in the state. Then [w] is withdrawn, and not counted again,
    whatever is raised. For structures where more than a queue changes. *)

val leave : 's Atomic.t -> _ Waiter.t -> ('s -> 's) -> unit
(** [leave word w f] replaces the state by [f] of it. From then on [w] is
    withdrawn, and is not counted again. *)

(** {2 A chain that begins with a change made by hand}

    For a fast path that finds more to do than one compare-and-set. *)

type 'r owed

val owing : 's Atomic.t -> ('s, 'r) next -> 'r owed
(** [owing word next] is what follows the change. Make it before the change,
    because a signal handler may raise where something is allocated. [next]
    doesn't begin with {!Again}. *)

val pay : 'r owed -> 'r
(** [pay owed] does it. Call it right after the change. *)
