(** Where the effects of the calling task arrive, found out by performing one.

    {2 The trigger of a scheduler that is registered} *)

type found =
  | Suspended  (** An effect was performed, and the task went on. *)
  | Blocked
      (** None was performed: the thread was blocked, for 10 milliseconds. *)
  | Unhandled  (** The scheduler's loop is not below the caller. *)

val await_at_once : Domain_local_await.t -> release:(unit -> unit) ref -> found
(** Awaits a fresh trigger. [!release] is to be called while the effect is on
    its way, as {!observe} does. *)

val is_inside : Domain_local_await.t -> bool
(** Does the calling task run in the scheduler of that fresh trigger? May
    suspend the task, and raise its host's cancellation. *)

(** {2 Effects that pass} *)

type passing = { passing : 'b. 'b Effect.t -> unit }

val observe : passing -> ((unit -> unit) ref -> 'a) -> 'a
(** [observe { passing } f] is [f release]. For each effect that [f] performs it
    calls [!release] and [passing], before it passes the effect on. *)
