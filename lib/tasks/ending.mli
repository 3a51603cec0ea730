(** How a scope comes to its end: what decides what its [run] raises. *)

type state =
  | Running
  | Stopped  (** It was cancelled by one of its tasks. *)
  | Unwound of exn * Printexc.raw_backtrace
      (** A task, or the body, raised what its host raises in cancelled tasks.
          If the host cancelled the whole scope, then it says why, and that
          counts; else it cancelled this one task. *)
  | Failed of exn * Printexc.raw_backtrace
      (** The first failure of a task or of the body. *)
  | Ended  (** All of its tasks have. *)

type t

val create : unit -> t
(** It is [Running]. *)

val change : t -> state -> bool
(** [change t state] makes [state] the state, unless what it was before counts
    for more. [true]: the caller must now cancel the tasks of the scope, all of
    which it may do twice. Tasks on several domains may call it at once. *)

val close : t -> state
(** The last state. From then on it is [Ended]. *)

val is_closed : t -> bool
