(** Finds where the effects of the calling task arrive, by performing one.

    {2 The trigger of a scheduler that is registered} *)

type found =
  | Suspended  (** An effect was performed, and the task continued. *)
  | Blocked
      (** No effect was performed, because the thread was blocked, and gave 50
          turns away. *)
  | Unhandled  (** The scheduler's loop is not below the caller. *)

val await_at_once : Domain_local_await.t -> release:(unit -> unit) ref -> found
(** Awaits a fresh trigger. The caller calls [!release] while the effect is on
    its way, as {!observe} does.

    The result doesn't depend on how long that takes. A trigger that seems to
    block the thread is released after 10 milliseconds, but that isn't believed.
    A second trigger is released when the thread has had 50 turns and has not
    performed an effect in any of them. If [await] blocks the thread all that
    time before it performs its effect, because it waits for a lock, it counts
    as one that blocks. So does any [await] if no thread can be created. *)

val is_inside : Domain_local_await.t -> bool
(** [true] if the calling task runs in the scheduler of that fresh trigger.

    - {b Suspends} the task for a moment, perhaps.
    - {b Raises} the host's exception, if the task is cancelled. *)

(** {2 Effects that pass} *)

type passing = { passing : 'b. 'b Effect.t -> unit }
(** A function to call before an effect is passed on. *)

val observe : passing -> ((unit -> unit) ref -> 'a) -> 'a
(** [observe { passing } f] is [f release]. For each effect that [f] performs it
    calls [!release] and [passing], before it passes the effect on. *)
