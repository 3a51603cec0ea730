(** What the suite for hosts has to know of a scheduler. *)
module type HOST = sig
  val name : string
  (** For the report. *)

  type t
  (** What it takes to start a task: a pool, a switch, or [unit] if a task needs
      nothing. *)

  type task
  (** What {!spawn} has started. *)

  val run : (t -> 'a) -> 'a
  (** [run f] runs the scheduler's loop on the calling thread, and calls [f] in
      a task of it. It returns or raises what [f] did. It may wait for the other
      tasks, or leave them. *)

  val spawn : t -> (unit -> unit) -> task
  (** Runs the function in another task, at once or later. Called in tasks. *)

  val yield : unit -> unit
  (** Lets the other ready tasks have their turn. Called in tasks. *)

  val cancel : (t -> task -> unit) option
  (** Asks a task to stop: it is unwound where it waits, by an exception. Called
      in another task. [None] if the scheduler cannot cancel. *)

  val is_cancellation : exn -> bool
  (** Is this what a task is cancelled with? *)

  val protects : bool
  (** Does {!Concord.Tasks.protect} defer a cancellation? *)

  val domains : bool
  (** May several domains call {!run} at the same time? *)
end
