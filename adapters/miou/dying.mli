(** The task of a domain that was cancelled, while it is unwound.

    Miou cancels a task by an exception at the effect at which the task is, and
    drops the task at the next effect that it performs. Between the two no other
    task of the domain continues, and no time passes in which the task could
    wait. *)

type t
(** The state of one loop of Miou's, for its thread. *)

val create : unit -> t

val next_turn : t -> unit
(** The loop continues with another task. *)

val turn : t -> int
(** The number of such turns. *)

val is_on : t -> bool
(** [true] if the calling task was cancelled. *)

val start : t -> exn -> Printexc.raw_backtrace -> unit
(** The calling task has just got this exception from {!performing}. *)

val cause : t -> exn

val raise_cause : t -> 'a
(** Raises that exception, with its backtrace. *)

(** {2 Shields} *)

val performing : t -> (unit -> 'a) -> 'a
(** [performing t f] is [f ()], which performs one effect. *)

val shielded : t -> (unit -> 'a) -> 'a
(** [shielded t f] is [f ()], in a shield. *)

val is_shielded : t -> bool
(** [true] if the calling task, which was cancelled, is in a shield. *)
