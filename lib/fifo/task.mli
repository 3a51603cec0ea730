(** What a scheduler knows of its tasks, scopes and itself.

    Except where it says otherwise, only the thread that runs the scheduler's
    loop touches these records. *)

type t = {
  home : scope;  (** The scope that waits for the task. *)
  mutable scope : scope;  (** The innermost scope that the task is in. *)
  mutable shields : int;  (** How many [protect]s the task is in. *)
  mutable cancelled : bool;
  mutable wait : wait;  (** Where it is suspended, if it is. *)
  ended : unit Concord.Promise.t;  (** Any thread may use it. *)
  mutable previous : t;
  mutable next : t;  (** The members of [home], in the order of forking. *)
}

(** The resumer of a suspended task, or one that answers [false]. The loop uses
    it to cancel the task. *)
and wait = Wait : 'a Concord.Suspend.resumer -> wait [@@unboxed]

(** A task that can continue. *)
and ready =
  | Nobody
  | Ready : {
      task : t;
      continuation : ('a, unit) Effect.Deep.continuation;
      outcome : ('a, exn) result;
    }
      -> ready
  | Turn of { task : t; continuation : (t, unit) Effect.Deep.continuation }
      (** To continue with itself. *)

(** The one atomic decision of H3.

    {v
    State      Left by          To        By whom
    Undecided  resumer          Decided   any thread
               cancel, eager    Decided   the loop
               cancel, lazy     Doomed    the loop
               block            Decided   the loop, if it needs no suspension
    Doomed     resumer (false)  Decided   any thread
               idle loop        Decided   the loop
    Decided    never (terminal)
    v}
    Whoever installs [Decided] makes the task ready, once. *)
and decision = Undecided | Doomed | Decided

and scope = {
  scheduler : scheduler;
  mutable parent : scope;  (** Itself for the scheduler's outermost scope. *)
  mutable owner : t;  (** The task that runs the scope's body. *)
  depth : int;  (** How many [protect]s the owner was in when it was made. *)
  mutable stopped : bool;  (** It was cancelled. *)
  members : t;  (** Not a task: the ring of [previous] and [next]. *)
  mutable live : int;  (** How many members have not ended. *)
  mutable on_empty : unit Concord.Suspend.resumer option;
      (** Called when [live] becomes 0: the owner waits for that. *)
  mutable failures : failure list;  (** Latest first. *)
}

and failure = {
  task : t;
  exn : exn;
  backtrace : Printexc.raw_backtrace;
  mutable told : bool;
      (** Somebody was told of it, or will be. Any thread may set it. *)
}

and scheduler = {
  root : scope;
  mutable domain : int;
      (** The domain whose threads may push to [ring]; -1 while none may.
          Threads of that domain read it too. *)
  mutable thread : int;  (** The thread that runs the loop, while it does. *)
  mutable ring : ready array;  (** Ready tasks; its size is a power of two. *)
  mutable first : int;
  mutable next_free : int;
      (** [ring] holds the positions from [first] to before [next_free], modulo
          its size. Threads of [domain] push too. *)
  inbox : inbox Atomic.t;  (** Any thread may use it. *)
  sleep : sleep Atomic.t;  (** Any thread may use it. *)
  mutable current : t;  (** The task that runs, or ran last. *)
  is_lazy : bool;
  mutable doomed : wait list;  (** Lazily cancelled, latest first. *)
  mutable failed : scope list;
      (** Those in which a task failed since the last look, latest first. *)
  host : Concord.Suspend.Host.t;
  mutable spin : bool;  (** The last wait was short. *)
  mutable foreign : foreign;
}

(** An effect that the scheduler does not handle, for the loop to perform. *)
and foreign =
  | Native
  | Foreign : {
      task : t;
      effect_ : 'a Effect.t;
      continuation : ('a, unit) Effect.Deep.continuation;
    }
      -> foreign

(** What other threads ask for, latest first. *)
and inbox =
  | Nothing
  | Wake of ready * inbox
  | Cancel of t * inbox
  | Stop of scope * inbox

and sleep = Awake | Asleep of unit Concord.Suspend.resumer

val scheduler : is_lazy:bool -> scheduler
(** Its outermost scope has no owner and no members yet. *)

val nowhere : wait

val create : scope -> t
(** A new member of the scope. *)

val leave : t -> unit
(** The task has ended and is not a member of its scope any more. *)

val iter_members : (t -> unit) -> scope -> unit
(** In the order of forking. The function does not make members leave. *)

val enter_scope : t -> scope
(** A new scope, owned by the task, inside the scope that it is in. *)

val leave_scope : t -> unit
(** The task is in the parent of its scope again. *)

val is_cancelled : t -> bool
(** Must the task raise [Cancelled] when it suspends? *)
