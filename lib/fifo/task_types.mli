(** The records of a scheduler, of its tasks and of its scopes.

    Except where it says otherwise, only the thread that runs the scheduler's
    loop reads and writes these records.

    Storing a pointer into an old record costs as much as suspending a task
    should. Hence tasks have numbers. The ready queue, the running task and the
    lists of members are made of integers. The outcome with which a task
    continues is stored by the same atomic operation that decides it. *)

type t = {
  ended : unit Promise.t;
      (** Resolved when the task ends. Any thread may use it. *)
  number : int;
      (** Its index in the scheduler's [tasks], until it has ended. *)
  mutable scope : scope;
      (** The innermost scope that the task is in. This is its home
          ({!Members.home}), which waits for it, or a scope that the task owns.
      *)
  mutable marks : int;
      (** The bits of {!Task.shields}, {!Task.was_cancelled}, {!Task.is_daemon}
          and {!Task.is_observed}, because each further field costs a word of
          memory for each task. *)
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
      (** Waits only to be scheduled, and continues with itself. *)
  | Parent of { continuation : (t, unit) Effect.Deep.continuation; child : t }
      (** Waits only to be scheduled, and continues with the child. *)
  | Start of (unit -> unit)  (** Has not begun. *)
  | Answer : {
      continuation : ('a, unit) Effect.Deep.continuation;
      value : 'a;
    }
      -> wait
      (** Its foreign effect returned. It is about to be continued with that
          value. *)
  | Failing : {
      continuation : ('a, unit) Effect.Deep.continuation;
      exn : exn;
      backtrace : Printexc.raw_backtrace;
    }
      -> wait
      (** Its foreign effect raised. It is about to be continued with that
          exception. *)
  | Ended  (** It has returned. *)
  | Raised of { exn : exn; backtrace : Printexc.raw_backtrace }
      (** It has ended with that exception. *)
  | Guarded of guarded
      (** Instead of [Wait], while the program looks for leaks. *)

and guarded = {
  weak : unit -> wait option;
      (** The resumer keeps the wait alive, unless it is [strong]. *)
  strong : wait Atomic.t;
      (** {v
          State    Left by  To        By whom
          Nowhere  keep     the wait  a thread that has it, before it decides
          the wait never (terminal)
          v} *)
}

and 'a decision = ('a, exn) result
(** The one atomic decision of H3: {!Decision.undecided}, {!Task.doomed},
    {!Task.answered}, or else the outcome with which the task continues.

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
  depth : int;  (** The owner's {!Task.shields} when the scope was made. *)
  mutable stopped : bool;  (** It was cancelled. *)
  mutable first : int;
  mutable last : int;  (** The first and the last member, or -1. *)
  mutable live : int;  (** The number of members that are not daemons. *)
  mutable on_empty : unit Concord_suspend.resumer option;
      (** Called when no member is left, because the owner waits for that. *)
  mutable failures : failure list;
      (** Failures of members that no task joined, latest first. *)
  mutable has_failed : bool;  (** It is in the scheduler's [failed]. *)
}

and failure = {
  task : t;
  exn : exn;
  backtrace : Printexc.raw_backtrace;
  since : int;  (** The scheduler's {!Task.age} when the task failed. *)
}

and scheduler = {
  root : scope;  (** The outermost scope; its owner is the first task. *)
  mutable domain : int;
      (** The domain whose threads may push to [ring], or -1 while none may.
          Threads of that domain read it too. *)
  mutable thread : int;  (** The thread that runs the loop, while it does. *)
  inbox : inbox Atomic.t;  (** Any thread may use it. *)
  sleep : sleep Atomic.t;  (** Any thread may use it. *)
  is_lazy : bool;
  host : Registered.t;
  spin : Spin.t;
  known : Who_is.tasks;
      (** Its tasks whose identity was asked for while waits were kept. *)
  mutable origins : Who.origin Map.Make(Int).t;
      (** Where the tasks were forked, by their numbers, while that is observed.
      *)
  mutable start : scheduler -> unit;
      (** Runs the current task on a stack of its own, with the handler. *)
  mutable scopes : Concord_suspend.scopes;
      (** The answer to [Scopes]. By this record the library tells schedulers
          apart. *)
  is_watched : bool;
      (** [true] if waits are kept, the program is traced, it looks for leaks,
          or the host has a context. *)
  mutable poller : poller;
  mutable tasks : t array;
      (** The tasks that have not ended, by number. The first task is elsewhere.
      *)
  mutable waits : wait array;
      (** Where the tasks are suspended, if they are, by number. *)
  mutable locals : Bindings.t array;
      (** The bindings of the tasks, by number. Empty as long as no task has
          bindings, or if they are in the host's slot. *)
  mutable place : Locals.place;  (** Where the tasks have their bindings. *)
  mutable contexts : (unit -> unit) array;
      (** What restores the host's context, as it was when the task performed
          its last effect, by number. A new task begins in the context of the
          task that forked it. Empty if the host has none. *)
  mutable forks : int;  (** How many tasks were forked. *)
  mutable used : int;  (** Numbers from here on were never in use. *)
  mutable free : int array;
      (** The first [n_free] of these are the other numbers not in use. *)
  mutable n_free : int;
  mutable ring : int array;  (** Ready tasks. Its size is a power of two. *)
  mutable mask : int;  (** That size, less one. *)
  mutable interruption : exn;
      (** The exception that escaped from the loop, or from its host, if any. *)
  mutable interruption_backtrace : Printexc.raw_backtrace;
  mutable first_failure : failure option;
      (** The exception of the first task. *)
  mutable foreign : foreign;
  turn : Turn.t;  (** Since the loop last slept, polled or let its host run. *)
  mutable polled_at : int;
      (** [first_ready], as it was when the loop last polled. *)
  mutable taken : inbox;
      (** The messages that the loop took out, latest first. *)
  mutable due : inbox;
      (** The messages that the loop handles next, oldest first. *)
  mutable doomed : doomed_wait list;
      (** Lazily cancelled, latest first. A signal handler may add to it. *)
  mutable unwinding : doomed_wait list;
      (** Those that the loop is about to unwind, oldest first. *)
  mutable failed : scope list;
      (** Scopes in which a task failed since the last check, latest first. *)
  mutable last : int;
      (** The task that suspended last, or -1. It may have ended since. *)
  mutable spins_on : int;
      (** The task on whose decision the loop spins, or -1. *)
  mutable poll_at : int;
      (** The position in [ring] at which the loop does the work that is not
          urgent, for the doomed tasks and the timers. It is [min_int] if the
          loop was interrupted. *)
  context : Context.t;  (** The context of the host, see {!Context}. *)
  mutable current : int;
      (** The task that runs, or -1. A task runs until it is suspended or has
          left its scope. When it is suspended, [waits] has everything that is
          needed to continue it. *)
  mutable first_ready : int;
  mutable next_free : int;
      (** [ring] holds the positions from [first_ready] to before [next_free],
          modulo its size. Threads of [domain] push too. *)
}
(** Other domains read the first fields, down to [sleep]. The loop keeps writing
    the last ones, so they come last, in another cache line. *)

and poller = {
  wait : (unit Concord_suspend.resumer -> unit option) -> unit;
      (** As {!Suspend.suspend}, but may return too early. *)
  poll : unit -> unit;  (** Neither waits nor raises. *)
  every : int;  (** Turns between two polls. *)
  spins : bool;  (** May the loop spin before it waits? *)
}
(** How a loop without work waits, and what it polls now and then. By default it
    suspends the task that it runs in, and polls nothing. *)

(** Work that the loop does outside {!Registered.using}, because it performs an
    effect that the scheduler does not handle. *)
and foreign =
  | Native
  | Foreign : {
      task : t;
      effect_ : 'a Effect.t;
      continuation : ('a, unit) Effect.Deep.continuation;
    }
      -> foreign
  | Turn_of_host  (** The loop lets the tasks of its host run. *)

(** Requests of other threads, latest first. *)
and inbox =
  | Nothing
  | Wake of t * inbox
  | Cancel of t * inbox
  | Stop of scope * inbox

and doomed_wait =
  | Doomed_wait : { task : t; decision : 'a Decision.t } -> doomed_wait

and sleep = Awake | Asleep of unit Concord_suspend.resumer
