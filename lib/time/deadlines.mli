(** Actions with deadlines, and who sees to it that they are called.

    One thread, the {e sleeper}, sleeps until the first deadline. This module
    only decides who owes what; {!Timer} has the thread and the clock. Times are
    in nanoseconds. *)

type 'wake t
(** ['wake] is what it takes to wake the sleeper. *)

val create : unit -> 'wake t

type 'wake sleeper =
  | Nobody  (** Nobody sees to it: start a sleeper. *)
  | Awake  (** Somebody does: nothing is owed. *)
  | Asleep of 'wake  (** Somebody does, and would be late: wake him. *)

type key

val never : int
(** After all deadlines. *)

val add :
  'wake t ->
  process:int ->
  deadline:int ->
  (unit -> unit) ->
  key * 'wake sleeper
(** Adds an action. The caller owes what the second part says. [process] is the
    calling process, which may be a child without its parent's sleeper. *)

val cancel : 'wake t -> key -> unit
(** Removes an action, unless it has been called, or will be called by a thread
    that has removed it. *)

val run_due : 'wake t -> now:(unit -> int) -> unit
(** Removes the actions that are due, one after the other, and calls them. *)

val may_be_due : 'wake t -> now:int -> bool
(** Whether [run_due] may find something. *)

val rest : 'wake t -> now:int -> 'wake -> int option
(** To be called by the sleeper, by nobody else, after {!run_due}: [Some until]
    says that he may sleep, until then or until he is woken; [None] that he must
    look again. *)

val appoint : 'wake t -> process:int -> bool
(** As for {!add}, without an action: [true] if a sleeper is to be started. *)

val dismiss : 'wake t -> key option -> unit
(** The sleeper could not be started. Removes the action for which he was. *)

val length : 'wake t -> int
(** O(n). *)

val check : 'wake t -> unit
(** Fails if an invariant does not hold. *)
