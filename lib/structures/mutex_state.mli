(** The states of a {!Mutex}: passing it on, and waiting for it. *)

type state =
  | Unlocked
  | Locked
  | Queue of (unit, unit) Waiters.t
  | Watched of { owner : Waits.holder option; waiters : (unit, unit) Waiters.t }

type t = state Atomic.t

val owners : t -> unit -> Waits.holder list
(** Who has it, if it is watched. *)

val create : unit -> t

val given : Waits.holder option
(** The owner until the task goes on that was given it. Compared by address. *)

val hand_over : ((unit, unit) Waiter.t -> bool) -> t -> bool
(** [hand_over resume t] passes it on to the first who waits and whom [resume]
    resumes, or unlocks it. [false] if it was not locked. If [resume] does not
    raise, an exception means that it was not passed on. *)

val resume : (unit, unit) Waiter.t -> bool
(** Resumes it with the mutex. *)

val enlist : t -> (unit, unit) Waiter.t -> bool
val withdraw : t -> (_, _) Waiter.t -> unit
