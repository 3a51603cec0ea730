(** Permits, and the tasks that wait for some: what {!Mutex}, {!Semaphore} and
    {!Rwlock} have in common.

    A semaphore has as many permits as it was made with, and an acquire takes
    one of them. A lock has {!all} of them: a writer takes them all, and a
    reader takes one. A mutex is a lock without readers.

    Tasks are served in the order of their arrival, but for threads that sleep
    ({!Nudge}). *)

type request = {
  amount : int;  (** How many permits, maybe none. *)
  aside : bool;  (** It goes behind those that do not stand aside. *)
  owner : Holders.t;  (** Who holds them then. *)
  comes : Nudge.t;
}
(** What a task asks for. *)

type waiters = (request, unit) Waiters.t

type rare = private {
  promised : int;  (** How many of the free permits nudged tasks come for. *)
  overtaken : int;  (** How many tasks have overtaken those, since none came. *)
  second : waiters;  (** Those that stand aside. *)
  known : Holders.t list;  (** Holders that are known. *)
  in_order : bool;  (** Nobody is nudged. *)
}
(** What most states have none of. *)

type state = private {
  free : int;  (** Permits that nobody has. *)
  first : waiters;
  rare : rare;
}

type t = state Atomic.t

val all : int
val make : ?in_order:bool -> int -> t

val request : int -> request
(** For so many permits, not aside, of nobody who is known. A request for none
    waits for its turn all the same. *)

val few : int

val few_free : int -> state
(** [few_free n] is the state in which [n] permits are free, nobody waits, and
    no holder is known. [n] is at most {!few}. It is a constant: so that a task
    neither allocates it nor fetches it from the core that has allocated it. *)

val few_taken : int -> state
(** The same of {!all} permits without [n]. *)

(** {2 Steps} *)

val take : request -> state -> (state, unit) Step.t
(** Takes the permits, or is {!Wait}. *)

val give : request -> state -> (state, unit) Step.t
(** Gives them back, and serves those who can be served then. O(n) for [n] tasks
    that are served. *)

val give_part : int -> state -> (state, unit) Step.t
(** As {!give}, for so many of the permits that a task has. It keeps others, so
    that it stays a holder. *)

val give_up : request -> state -> (state, unit) Step.t
(** The nudged task does not come. *)

(** {2 Waiting} *)

type 't waiting = ('t, request, unit) Nudge.waiting

val waiting :
  ?left:(state, unit) Step.next ->
  ('t -> t) ->
  ('t, request, unit) Operation.t ->
  't waiting
(** [waiting word operation]: as [operation] says, but for [how]. [left] is what
    follows when a waiter has withdrawn: by default those who can be served then
    are. *)

val waiters : t -> int
(** How many wait, without those that were nudged. *)
