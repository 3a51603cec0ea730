(** What a scheduler knows of its tasks, its scopes and itself.

    Except where it says otherwise, only the thread that runs the scheduler's
    loop touches these records.

    Storing a pointer into an old record costs as much as suspending a task
    should. Hence tasks have numbers: the ready queue, the running task and the
    lists of members are made of integers, and what a task will continue with is
    stored by the same atomic operation that decides it. *)

module Numbers : Map.S with type key = int

type t = {
  ended : unit Promise.t;
      (** Resolved when the task ends. Any thread may use it. *)
  number : int;
      (** Its place in the scheduler's [tasks], until it has ended. *)
  mutable scope : scope;
      (** The innermost scope that the task is in: its home ({!Members.home}),
          the scope that waits for it, or one that the task owns. *)
  mutable marks : int;
      (** See {!shields}, {!was_cancelled}, {!is_daemon} and {!is_observed}: a
          word of memory for each task. *)
  mutable previous : int;
  mutable next : int;
      (** The members of its home before and after it, or -1, in the order of
          forking. *)
}

(** A suspended task, or one that was. *)
and wait =
  | Nowhere
  | Wait : {
      decision : 'a Decision.t;  (** Any thread may use it. *)
      continuation : ('a, unit) Effect.Deep.continuation;
    }
      -> wait
  | Turn of (t, unit) Effect.Deep.continuation
      (** Waits for its turn only, to continue with itself. *)
  | Parent of { continuation : (t, unit) Effect.Deep.continuation; child : t }
      (** Waits for its turn only, to continue with the child. *)
  | Start of (unit -> unit)  (** Has not begun. *)
  | Answer : {
      continuation : ('a, unit) Effect.Deep.continuation;
      value : 'a;
    }
      -> wait
      (** Its foreign effect returned; it is about to be continued with that. *)
  | Failing : {
      continuation : ('a, unit) Effect.Deep.continuation;
      exn : exn;
      backtrace : Printexc.raw_backtrace;
    }
      -> wait  (** What it did raised; it is about to be continued with that. *)
  | Ended  (** It has returned. *)
  | Raised of { exn : exn; backtrace : Printexc.raw_backtrace }
      (** It has ended with that. *)
  | Guarded of guarded
      (** Instead of [Wait], while the program looks for leaks. *)

and guarded = {
  weak : wait Weak.t;  (** Kept alive by the resumer, unless it is [strong]. *)
  strong : wait Atomic.t;
      (** {v
          State    Left by  To        By whom
          Nowhere  keep     the wait  a thread that has it, before it decides
          the wait never (terminal)
          v} *)
}

and 'a decision = ('a, exn) result
(** The one atomic decision of H3: {!Decision.undecided}, {!doomed},
    {!answered}, or else the outcome with which the task continues.

    {v
    State      Left by          To               By whom
    undecided  resumer          its argument     any thread
               cancel, eager    Error Cancelled  the loop *
               cancel, lazy     doomed           the loop *
               block            answered         the loop; it gave, or raised
               spin             spun_on          the loop, if it is idle: {!Spinner}
    spun_on    resumer          its argument     any thread, which owes nothing
               leave            undecided        the loop
    doomed     resumer (false)  Error Cancelled  any thread
               check            Error Cancelled  the loop
    answered   never (terminal)
    an outcome never (terminal)
    v}
    * after [block] has returned. Debt: the thread that installs the outcome
    makes the task ready, once, also if a signal handler raises before that is
    done ({!Ready.surely}). After [answered] the loop continues the task itself.
*)

and scope = {
  scheduler : scheduler;
  parent : scope;  (** Itself for the scheduler's outermost scope. *)
  owner : t;  (** The task that runs the scope's body. *)
  depth : int;  (** The owner's {!shields} when it was made. *)
  mutable stopped : bool;  (** It was cancelled. *)
  mutable first : int;
  mutable last : int;  (** The first and the last member, or -1. *)
  mutable live : int;  (** How many members there are that are no daemons. *)
  mutable on_empty : unit Suspend.resumer option;
      (** Called when no member is left: the owner waits for that. *)
  mutable failures : failure list;
      (** Of members for which nobody waited, latest first. *)
  mutable has_failed : bool;  (** It is in the scheduler's [failed]. *)
}

and failure = { task : t; exn : exn; backtrace : Printexc.raw_backtrace }

and scheduler = {
  root : scope;  (** The outermost scope; its owner is the first task. *)
  mutable domain : int;
      (** The domain whose threads may push to [ring]; -1 while none may.
          Threads of that domain read it too. *)
  mutable thread : int;  (** The thread that runs the loop, while it does. *)
  inbox : inbox Atomic.t;  (** Any thread may use it. *)
  sleep : sleep Atomic.t;  (** Any thread may use it. *)
  is_lazy : bool;
  host : Host_kit.t;
  spin : Spin.t;
  known : Who.tasks;  (** Its tasks that were asked while waits were kept. *)
  mutable origins : Who.origin Numbers.t;
      (** By the numbers of tasks: where they were forked, while that is
          observed. *)
  mutable start : scheduler -> unit;
      (** Runs the current task on a stack of its own, with the handler. *)
  mutable scopes : Suspend.scopes;
      (** The answer to [Scopes]. The library tells schedulers apart by it. *)
  is_watched : bool;
      (** Are waits kept, is the program traced, or does it look for leaks? *)
  mutable poller : poller;
  mutable tasks : t array;
      (** The tasks that have not ended, by number; the first task elsewhere. *)
  mutable waits : wait array;
      (** Where the tasks are suspended, if they are, by number. *)
  mutable locals : Local.t array;
      (** What the tasks have bound, by number; empty as long as none has. *)
  mutable used : int;  (** Numbers from here on were never in use. *)
  mutable free : int array;
      (** The first [n_free] of these are the other numbers not in use. *)
  mutable n_free : int;
  mutable ring : int array;  (** Ready tasks; its size is a power of two. *)
  mutable mask : int;  (** That size, less one. *)
  mutable interruption : exn;
      (** What escaped from the loop, or from its host, if anything did. *)
  mutable interruption_backtrace : Printexc.raw_backtrace;
  mutable first_failure : failure option;  (** What the first task raised. *)
  mutable foreign : foreign;
  mutable guest_until : int;
      (** When the loop, if it always has something to do, is to let its host
          have a turn: on the clock of {!Timer}; 0 if that is not known yet, and
          [max_int] for never. *)
  mutable taken : inbox;  (** What the loop took out, latest first. *)
  mutable due : inbox;  (** What is to be handled next, oldest first. *)
  mutable doomed : doomed_wait list;
      (** Lazily cancelled, latest first. A signal handler may add to it. *)
  mutable unwinding : doomed_wait list;
      (** Those that the loop is about to unwind, oldest first. *)
  mutable failed : scope list;
      (** Those in which a task failed since the last look, latest first. *)
  mutable last : int;
      (** Which task suspended last, or -1. It may have ended since. *)
  mutable spins_on : int;
      (** The task on whose decision the loop spins, or -1. *)
  mutable poll_at : int;
      (** The position in [ring] at which the loop sees to what is not urgent:
          the doomed, and the timers; [min_int] if it was interrupted. *)
  mutable current : int;
      (** The task that runs, or -1. A task runs until it is suspended (all that
          is needed to continue it is in [waits]) or has left its scope. *)
  mutable first_ready : int;
  mutable next_free : int;
      (** [ring] holds the positions from [first_ready] to before [next_free],
          modulo its size. Threads of [domain] push too. *)
}
(** Other domains read what comes first, down to [sleep]; what the loop keeps
    writing comes last, so that it is in another cache line. *)

and poller = {
  wait : (unit Suspend.resumer -> unit option) -> unit;
      (** As {!Suspend.suspend}, but may return too early. *)
  poll : unit -> unit;  (** Neither waits nor raises. *)
  every : int;  (** Turns between two polls. *)
  spins : bool;  (** May the loop spin before it waits? *)
}
(** How a loop without anything to do waits, and what it looks at now and then.
    By default it suspends the task that it runs in, and looks at nothing. *)

(** What the loop is to do outside of {!Host_kit.using}: to perform an effect
    that the scheduler does not handle. *)
and foreign =
  | Native
  | Foreign : {
      task : t;
      effect_ : 'a Effect.t;
      continuation : ('a, unit) Effect.Deep.continuation;
    }
      -> foreign
  | Turn_of_host  (** For the loop to let its host have a turn. *)

(** What other threads ask for, latest first. *)
and inbox =
  | Nothing
  | Wake of t * inbox
  | Cancel of t * inbox
  | Stop of scope * inbox

and doomed_wait =
  | Doomed_wait : { task : t; decision : 'a Decision.t } -> doomed_wait

and sleep = Awake | Asleep of unit Suspend.resumer

exception Cancelled
(** {!Concord_fifo.Cancelled}. *)

val spun_on : 'a decision
val doomed : 'a decision
val answered : 'a decision
val cancelled : 'a decision
val no_poller : poller

val scheduler : is_lazy:bool -> scheduler
(** A new scheduler with its outermost scope, whose only member is the first
    task. *)

val current : scheduler -> t

(** {2 Exceptions of signal handlers}

    A signal handler, a finaliser and the like run wherever the loop allocates
    or polls, and may raise. Hence the loop changes these records in steps
    without such a point ([[@poll error]] makes the compiler check the longer
    ones); and before each such point all that is still to be done is in the
    records, or it will be done by an exception handler. What escapes then is
    noted. *)

val note : scheduler -> exn -> unit
(** Notes the exception that was just caught, in place of what was noted before.
    The loop will stop the outermost scope, and [run] will raise the exception.
    Never raises. *)

val is_interrupted : scheduler -> bool

(** {2 Tasks} *)

val shields : t -> int
(** How many [protect]s of its own the task is in. *)

val depth_in : t -> scope -> int
(** The task's {!shields} when it came to be in the scope: if it is not in a
    further [protect], the scope can cancel it. *)

val shield : t -> unit
val unshield : t -> unit
val was_cancelled : t -> bool
val mark_cancelled : t -> unit

val enter_scope : t -> scope
(** A new scope, owned by the task, inside the scope that the task is in. Until
    [enter_scope] returns nothing has changed. *)

val leave_scope : t -> unit
(** The task is in the parent of its scope again. *)

val mark_observed : t -> unit
(** The exception with which the task ended was observed, by a task that joined
    it. Any thread may call this. *)

val is_observed : t -> bool
(** Was {!mark_observed} called? Only for a task that ended with an exception.
*)

val is_cancelled : t -> bool
(** Must the task raise [Cancelled] when it suspends? *)

(** {2 Daemons} *)

val become_daemon : t -> unit
(** The calling task, which has opened no scope, does not keep its home from
    ending any more. *)

val is_daemon : t -> bool

val has_members : scope -> bool
(** Daemons included. *)

(** {2 Bindings} *)

val locals : t -> Local.t
(** Of a task that has not ended. *)

val set_locals : t -> Local.t -> unit

val inherit_locals : scheduler -> t -> t -> unit
(** [inherit_locals s parent child], before the child begins. *)
