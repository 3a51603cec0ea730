(** The end of a scope, and with it the exception of its [run]. *)

type state =
  | Running
  | Stopped  (** One of its tasks cancelled the scope. *)
  | Unwound of exn * Printexc.raw_backtrace
      (** A task or the body raised its host's exception for cancelled tasks. If
          the host cancelled the whole scope, the host says so, and this counts.
          Otherwise, it cancelled only this task. *)
  | Failed of exn * Printexc.raw_backtrace
      (** The first failure of a task or of the body. *)
  | Ended  (** All of its tasks have ended. *)

type t

val create : unit -> t
(** [create ()] is [Running]. *)

val change : t -> state -> bool
(** [change t state] makes [state] the new state, unless the old one has
    priority. If it returns [true], the caller has to cancel the tasks of the
    scope now, and may do so twice. Tasks on several domains may call it at
    once. *)

val close : t -> state
(** [close t] returns the last state. From then on, [t] is [Ended]. *)

val is_closed : t -> bool
