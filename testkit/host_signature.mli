(** The description of a scheduler for the suite of host tests. *)
module type HOST = sig
  val name : string
  (** The name in the report. *)

  type t
  (** A value for starting tasks, for example a pool or a switch. Use [unit] if
      a task needs nothing. *)

  type task
  (** A task started by {!spawn}. *)

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
  (** [cancel t task] asks a task to stop, which unwinds it where it waits, with
      an exception.

      The suite calls it in another task. Use [None] if the scheduler cannot
      cancel. Cases with a cancellation are then left out. *)

  val is_cancellation : exn -> bool
  (** [is_cancellation e] is [true] if a cancelled task gets [e]. *)

  val not_offered : (string * string) list
  (** The optional clauses the scheduler doesn't offer, each with the reason.
      They are not checked, and the report shows the reason. A clause neither
      declared here nor kept is broken.

      For example, [("domains", "all loops share one queue")] declares that two
      domains may not call {!run} at the same time. Use [[]] if the scheduler
      offers everything. *)
end
