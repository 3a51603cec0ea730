(** Actions with deadlines.

    One thread, the {e sleeper}, sleeps until the first deadline, and then calls
    the actions that are due. This module decides which thread has to start or
    wake the sleeper. {!Timer} has the thread and the clock. Times are in
    nanoseconds.

    Any thread may call these functions, unless their comments say otherwise.
    None of them waits for another thread. *)

type 'wake t
(** A set of actions. A value of type ['wake] is used to wake the sleeper. *)

val create : unit -> 'wake t

type 'wake asleep = private {
  wake : 'wake;
  sleeps_until : int;
  mutable is_woken : bool;
}
(** One sleep of the sleeper. *)

(** The duty of the caller of {!add}. *)
type 'wake sleeper =
  | Nobody  (** There was no sleeper, so the caller has to start one. *)
  | Awake  (** The sleeper will look in time, so the caller has no duty. *)
  | Asleep of 'wake asleep
      (** The sleeper would look too late, so the caller has to wake it and then
          call {!woken}. *)

type key
(** One action that was added. *)

val never : int
(** A time after all deadlines. *)

val add :
  'wake t ->
  process:int ->
  deadline:int ->
  (unit -> unit) ->
  key * 'wake sleeper
(** [add t ~process ~deadline action] adds an action. The second component of
    the result is the caller's duty. [process] is the calling process, because
    it may be a child that doesn't have its parent's sleeper. O(log n). *)

val woken : 'wake asleep -> unit
(** [woken asleep] says that the caller has woken the sleeper. Until then, each
    other caller of {!add} has the same duty, because the first one may never do
    it. *)

val cancel : 'wake t -> key -> unit
(** [cancel t key] removes an action. If a thread has already removed the action
    to call it, nothing happens. O(log n). *)

val run_due : 'wake t -> now:(unit -> int) -> unit
(** [run_due t ~now] removes the actions that are due, one after the other in
    the order of their deadlines, and calls each of them.

    - {b Raises} [e] if an action raises [e]. In that case, the action is called
      again, up to 16 times, and later actions stay in [t]. *)

val may_be_due : 'wake t -> now:int -> bool
(** [may_be_due t ~now] is [false] if {!run_due} has nothing to do. It costs one
    read. *)

val fall_asleep : 'wake t -> now:int -> 'wake -> int option
(** [fall_asleep t ~now wake] announces that the sleeper goes to sleep. Only the
    sleeper calls it, after {!run_due}. If the result is [Some until], it sleeps
    until then, or until it is woken. If it is [None], it looks again. *)

val lacks_sleeper : 'wake t -> process:int -> bool
(** [lacks_sleeper t ~process] is [true] if {!start_sleeper} would be [true]. It
    costs one read. *)

val start_sleeper : 'wake t -> process:int -> bool
(** [start_sleeper t ~process] does the same as {!add}, but without an action.
    It returns [true] if there was no sleeper. In that case, the caller has to
    start one. *)

val start_failed : 'wake t -> key option -> unit
(** [start_failed t key] says that the caller could not start the sleeper. It
    removes the action that the caller had added, if any. The next caller of
    {!add} has to start the sleeper instead. *)

val length : 'wake t -> int
(** [length t] is the number of actions. O(n). *)

val is_empty : 'wake t -> bool
(** [is_empty t] is [true] if there are no actions. O(1). *)

val check : 'wake t -> unit
(** [check t] checks the invariants, for tests.

    - {b Raises} [Failure] if an invariant does not hold. *)
