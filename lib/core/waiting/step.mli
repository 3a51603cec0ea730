(** A step describes what an operation does to a structure, as a pure function
    of the structure's state.

    {b Stability}: experimental, because it shows how the library works inside,
    and a faster wait may change it.

    A structure is an [Atomic] word with an immutable state. Each operation has
    a {e step}, which is a function of the operation's argument and the current
    state. Its result says what has to be done. A step changes nothing, resumes
    no task and reads only its arguments, so it can be called again at any time.
    The driver in this module does the rest for all structures. It commits the
    new state, calls the step again if another task was faster, resumes waiters,
    and performs the next steps.

    For example, a box holds at most one value, and tasks wait to take it. [put]
    fills the box, or hands the value to the first taker. If this taker was
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
      change, the driver would mistake an exception for one of a signal handler,
      and call the step again. A step may call a user's function, such as a
      comparison, only if the function doesn't raise.
    + {b Wait and Raise come before the first change.} Once something was
      changed, the following steps must not return {!Wait} or {!Raise}, because
      the operation could no longer be undone. A refusal is not a change. After
      a refusal, [Again] may therefore lead to {!Wait} if nothing else was done.
    + {b A queue may hold withdrawn waiters.} A cancelled waiter stays in its
      queue for a while ({!Waiters}). Handing over to it is safe because it
      refuses. But if a step stops at a first waiter it can't serve yet, it has
      to skip withdrawn waiters first ({!Waiter.is_live}). Otherwise a cancelled
      waiter would block those behind it. For example, readers would wait behind
      a cancelled writer.
    + {b Take a waiter out before you resume it.} In {!Hand_over} and before
      {!resume_all}, the new state must no longer contain the waiter.
    + {b Use a waiter's value only after it has accepted.} Put [waiter.arg] into
      the state in the step after [accepted].

    {2 Interruption}

    A signal handler may raise almost anywhere. But an operation always happens
    completely or not at all. Once the first change is committed, the driver
    completes everything else, and only then raises.

    No function here suspends or performs an effect. All can be called from any
    domain and thread, and in signal handlers.

    @canonical Concord.Tools.Structure_kit.Step *)

(** {2 The answer of a step} *)

(** The answer of a step, which says what has to be done in the given state. *)
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
          [outcome]. Then [accepted] or [refused] follows. A waiter refuses if
          it was cancelled, or if its choice took another alternative. In this
          case, it has consumed nothing. If its resumer raises, the waiter has
          accepted. *)

(** The part of an operation after a change. *)
and ('s, 'r) next =
  | Done of 'r  (** The operation is complete, and this is its result. *)
  | Again
      (** The driver calls its last step again, with the current state. This is
          the operation's own step, unless {!Then} has named another one since.
      *)
  | Then of ('s -> ('s, 'r) t)
      (** The driver calls this step of the same word. It must not return
          {!Wait} or {!Raise}. *)
  | At :
      'u Atomic.t * ('u -> ('u, 'v) t) * ('v -> ('s, 'r) next)
      -> ('s, 'r) next
      (** [At (word, step, k)] performs a step of another word, with all of its
          consequences. If its result is [v], [k v] follows here. The step must
          not return {!Wait} or {!Raise}. *)
  | Resume :
      ('x, 'a) Waiter.t * ('a, exn) result * (bool -> ('s, 'r) next)
      -> ('s, 'r) next
      (** [Resume (waiter, outcome, k)] resumes the waiter. [k true] follows if
          it has accepted, and [k false] if it refuses, as in {!Hand_over}. The
          state stays as it is. *)

val finished : ('s, unit) next
(** [Done ()]. *)

val to_first : (_, 'a) Waiters.t -> ('a, exn) result -> 's -> 'r -> ('s, 'r) t
(** [to_first waiters outcome state result] is a {!Hand_over} to the first
    waiter of the queue. If it accepts, the operation is complete. If it
    refuses, the step is called again, and offers the next waiter the same.
    [state] is the state without the first waiter. *)

val resume_all :
  ('x, 'a) Waiters.t -> ('a, exn) result -> ('s, 'r) next -> ('s, 'r) next
(** [resume_all waiters outcome next] resumes all waiters of the queue in their
    order, whether they accept or refuse.

    Then [next] follows. It takes O(n) time. For example, this makes all takers
    of the box above raise an exception:

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
(** [resume_and_count waiters outcome k] does the same as {!resume_all}, but
    [k n] follows, where [n] is the number of resumed waiters.

    A cancelled task counts until it is unwound. An alternative counts only if
    its choice took it. *)

val counts : _ Waiter.t -> bool
(** [counts w] is [true] if {!resume_and_count} counts [w] even if it refuses.
*)

(** {2 Performing a step}

    Use {!surely} in functions that give something back, such as [unlock] and
    [release]. Use {!perform} in other non-blocking operations, and {!attempt}
    in those named [try_].

    Each function takes the step and its argument separately, to allocate no
    closure. {b Cost}: the step and one compare-and-set. Each failed
    compare-and-set costs a short pause and another try. *)

val attempt : 's Atomic.t -> ('x -> 's -> ('s, 'r) t) -> 'x -> 'r option
(** [attempt word step x] performs the step. If the step returns {!Wait}, the
    result is [None], and nothing was done, except that refusing waiters were
    removed from their queue.

    - {b Raises} [e] if the step returns [Raise e].
    - {b Raises} [e] if a signal handler or a resumer raises [e]. The operation
      has then happened completely or not at all. *)

val perform : 's Atomic.t -> ('x -> 's -> ('s, 'r) t) -> 'x -> 'r
(** [perform word step x] does the same as {!attempt}, for a step that never
    returns {!Wait}.

    - {b Raises} [Invalid_argument] if the step returns {!Wait}. *)

val surely : 's Atomic.t -> ('x -> 's -> ('s, 'r) t) -> 'x -> 'r
(** [surely word step x] does the same as {!perform}, but when it returns or
    raises, the operation has happened. ({!perform} may raise before anything
    was done.)

    [step] should be an existing function. If the caller allocated a closure for
    it here, a signal handler could raise before the call. *)

(** {2 Giving back what was taken}

    Call these functions right after you have taken something. No signal handler
    runs between taking the state and [f]. [fast word x] is a fast path of the
    step, usually one compare-and-set. It has the same effect as the step if no
    task waits. Otherwise it does nothing and returns [false]. *)

val give_back :
  fast:('s Atomic.t -> 'x -> bool) ->
  's Atomic.t ->
  ('x -> 's -> ('s, unit) t) ->
  'x ->
  unit
(** [give_back ~fast word step x] calls [fast word x]. If it returns [false], it
    performs the step {!surely}. *)

val within :
  fast:('s Atomic.t -> 'x -> bool) ->
  's Atomic.t ->
  ('x -> 's -> ('s, unit) t) ->
  'x ->
  (unit -> 'b) ->
  'b
(** [within ~fast word step x f] calls [f ()], and performs [step] {!surely}
    when [f] returns or raises.

    Then it returns the result, or raises the exception with its backtrace. Here
    [fast] must neither allocate nor end in a call, because a raising signal
    handler in it would leave the structure held.

    - {b Raises} [e] if [f ()] raises [e]. Otherwise it raises the exception of
      [surely]. *)

val replacing :
  fast:('s Atomic.t -> 'a -> bool) ->
  's Atomic.t ->
  ('a -> 's -> ('s, unit) t) ->
  ('a -> 'a * 'b) ->
  'a ->
  'b
(** [replacing ~fast word step f old] does the same as {!within}, for a
    structure with a value.

    If [f old] returns [(v, result)], it gives back [v] and returns [result]. If
    [f old] raises, it gives back [old]. *)

(** {2 Waiting} *)

type ('s, 'x, 'a) queue =
  (('x, 'a) Waiters.t -> ('x, 'a) Waiter.t -> ('x, 'a) Waiters.t) ->
  ('x, 'a) Waiter.t ->
  's ->
  's
(** A function to find an operation's waiters in the state.
    [queue change w state] is [state] with [change waiters w] in place of
    [waiters], the queue in which [w] waits. For the operation [take] above, it
    is:

    {[
    # let takers change w = function
        | Full _ as state -> state
        | Empty takers -> Empty (change takers w)
    val takers :
      ((unit, 'a) Waiters.t -> 'b -> (unit, 'a) Waiters.t) ->
      'b -> 'a box -> 'a box = <fun>
    ]}

    The driver calls it to add a waiter, and to count a withdrawn one. If the
    operation's step returns {!Wait} in a state, [queue] has to apply [change]
    in this state. Otherwise the task would wait in no queue, forever. In other
    states there may be no queue. In this case, return [state] itself. *)

(** The following two functions are for [Operation], and for a structure whose
    tasks wait in another word than the one the operation changes. *)

val enlist :
  's Atomic.t ->
  ('x -> 's -> ('s, _) t) ->
  ('s, 'x, 'a) queue ->
  ('x, 'a) Waiter.t ->
  bool
(** [enlist word step queue waiter] puts the waiter into its queue and returns
    [true], if its step returns {!Wait}.

    It also does so if the step would return {!Wait} after some waiters have
    refused. These are withdrawn waiters, and alternatives of the waiter's own
    choice. Otherwise it does nothing and returns [false].

    The step shows this by [refused = Again] in its first {!Hand_over}, if
    others may refuse. *)

val withdraw :
  's Atomic.t ->
  ('s, 'x, 'a) queue ->
  ('s, unit) next ->
  ('x, 'a) Waiter.t ->
  unit
(** [withdraw word queue next waiter] counts an enlisted waiter as withdrawn,
    once. Then [next] follows, which must not begin with {!Again}. *)

(**/**)

(** For the library only. *)

val withdraw_by :
  's Atomic.t ->
  (('x, 'a) Waiter.t -> 's -> ('s, unit) t) ->
  ('x, 'a) Waiter.t ->
  unit
(** [withdraw_by word step w] performs the step {!surely}, which counts [w] as
    withdrawn in the state.

    From then on [w] is withdrawn and is not counted again, even if a signal
    handler raises. It is for structures where more than a queue changes. *)

val leave : 's Atomic.t -> _ Waiter.t -> ('s -> 's) -> unit
(** [leave word w f] replaces the state by [f] of it. From then on [w] is
    withdrawn, and is not counted again. *)

(** {2 A chain that begins with a change made by hand}

    For a fast path with more to do than one compare-and-set. *)

type 'r owed

val owing : 's Atomic.t -> ('s, 'r) next -> 'r owed
(** [owing word next] returns the chain to follow the change.

    Call it before the change, because a signal handler may raise where
    something is allocated. [next] must not begin with {!Again}. *)

val pay : 'r owed -> 'r
(** [pay owed] performs the chain. Call it right after the change. *)

val surely_then_raise :
  's Atomic.t -> ('x -> 's -> ('s, 'r) t) -> 'x -> exn -> 'r
(** {!surely}, and then it raises the exception, which came before. *)
