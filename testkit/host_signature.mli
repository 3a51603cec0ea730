(** The description of a scheduler for the suite of host tests. *)
module type HOST = sig
  val name : string
  (** The name in the report. *)

  type t
  (** The value that you need to start a task, for example a pool or a switch.
      Use [unit] if a task needs nothing. *)

  type task
  (** A task that {!spawn} has started. *)

  val run : (t -> 'a) -> 'a
  (** [run f] runs the scheduler's loop on the calling thread, and calls [f] in
      a task of it.

      It returns or raises the outcome of [f]. It may wait for the other tasks,
      or leave them. *)

  val spawn : t -> (unit -> unit) -> task
  (** [spawn t f] runs [f] in another task, at once or later. The suite calls it
      in tasks. *)

  val yield : unit -> unit
  (** [yield ()] lets the other ready tasks run. The suite calls it in tasks. *)

  val cancel : (t -> task -> unit) option
  (** [cancel t task] asks a task to stop, so that it is unwound where it waits,
      by an exception.

      The suite calls it in another task. Use [None] if the scheduler cannot
      cancel. The cases that need a cancellation are then left out. *)

  val is_cancellation : exn -> bool
  (** [is_cancellation e] is [true] if a cancelled task gets [e]. *)

  val not_offered : (string * string) list
  (** The optional clauses that the scheduler doesn't offer, each with the
      reason. They are not checked, and the report shows the reason. A clause
      that is neither declared here nor kept is broken.

      For example, [("domains", "all loops share one queue")] declares that two
      domains may not call {!run} at the same time. Use [[]] if the scheduler
      offers everything. *)
end
