(** Actions with deadlines.

    One thread, the {e sleeper}, sleeps until the first deadline, and then calls
    what is due. This module decides which thread has to start or to wake the
    sleeper; {!Timer} has the thread and the clock. Times are in nanoseconds.

    Any thread may call these functions, unless said otherwise. None of them
    waits for another thread. *)

type 'wake t
(** ['wake] is what it takes to wake the sleeper. *)

val create : unit -> 'wake t

type 'wake asleep = private {
  wake : 'wake;
  sleeps_until : int;
  mutable is_woken : bool;
}
(** One sleep of the sleeper. *)

(** What the caller of {!add} owes. *)
type 'wake sleeper =
  | Nobody  (** There was no sleeper: the caller starts one. *)
  | Awake  (** The sleeper will look in time: the caller owes nothing. *)
  | Asleep of 'wake asleep
      (** The sleeper would look too late: the caller wakes it, and calls
          {!woken} then. *)

type key
(** One action that was added. *)

val never : int
(** After all deadlines. *)

val add :
  'wake t ->
  process:int ->
  deadline:int ->
  (unit -> unit) ->
  key * 'wake sleeper
(** Adds an action. The caller owes what the second part says. [process] is the
    calling process, which may be a child without its parent's sleeper. O(log
    n). *)

val woken : 'wake asleep -> unit
(** The caller has woken the sleeper. Until then each other caller of {!add}
    owes that too, as the first may never do it. *)

val cancel : 'wake t -> key -> unit
(** Removes an action, unless a thread has removed it already: that thread calls
    it, or has called it. O(log n). *)

val run_due : 'wake t -> now:(unit -> int) -> unit
(** Removes the actions that are due, one after the other in the order of their
    deadlines, and calls each.

    - {b Raises} [e] if an action raises [e], or a signal handler meanwhile:
      then the action is called once more; the later ones are left. *)

val may_be_due : 'wake t -> now:int -> bool
(** Whether {!run_due} may find something. One read. *)

val fall_asleep : 'wake t -> now:int -> 'wake -> int option
(** Announces that the sleeper goes to sleep. Only the sleeper calls it, after
    {!run_due}. [Some until]: it sleeps until then, or until it is woken.
    [None]: it looks again. *)

val lacks_sleeper : 'wake t -> process:int -> bool
(** Would {!start_sleeper} be [true]? One read. *)

val start_sleeper : 'wake t -> process:int -> bool
(** As {!add}, without an action. [true]: there was no sleeper, and the caller
    starts one. *)

val start_failed : 'wake t -> key option -> unit
(** The caller could not start the sleeper that it owed. Removes the action that
    it had added, if there is one; the next {!add} owes the start again. *)

val length : 'wake t -> int
(** How many actions there are. O(n). *)

val is_empty : 'wake t -> bool
(** Whether there are no actions. O(1). *)

val check : 'wake t -> unit
(** For tests.

    - {b Raises} [Failure] if an invariant does not hold. *)
