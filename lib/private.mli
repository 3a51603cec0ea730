(** For the packages of this project.

    {b Stability}: none, nothing is promised.

    The adapters, [concord-aio] and [concord-schedulers] use some of what is
    inside of [concord]. All of it is listed here. {b Nothing here is promised}:
    any release may change or remove it, and says nothing about that. If your
    own scheduler needs something of it, ask us to add that to
    {!Concord.Tools.Host_kit}.

    A line says who uses the function. What the function does is said in the
    interface of the module of the same name, in [lib/]. *)

(** {1 Small tools} *)

(** Used by [concord-aio] and [concord-schedulers]. *)
module Atomically : sig
  val update : 's Atomic.t -> ('s -> 's) -> unit
  (** One step of an atomic that holds an immutable state. *)

  val update_surely : 's Atomic.t -> ('s -> 's) -> unit
  (** The same, also if a signal handler raises. *)
end

(** Used by [concord-domainslib], to know which pool is which. *)
module Identity : sig
  type pointer = Identity.pointer
  (** What tells one task from another, in {!Who}. *)

  type 'a attached = 'a Identity.attached
  (** Something that belongs to a value, and does not keep it alive. *)

  val attach : 'v -> 'a -> 'a attached
  (** Makes one. *)

  val attached : 'a attached -> 'a option
  (** [None] once the value was collected. *)

  val is_useless : 'a attached -> bool
  (** Was the value collected? *)

  val same_code : ('a -> 'b) -> ('a -> 'b) -> bool
  (** Do two closures run the same code? By it a trigger is recognised. *)
end

(** Used by [concord-miou]. *)
module Late : sig
  val protect : (unit -> 'a) -> 'a
  (** Keeps what a signal handler raises for the thread's next wait. *)
end

(** Used by [concord-domainslib] and [concord-lwt], to start domains. *)
module Signals : sig
  type mask = Signals.mask
  (** The signals that a thread blocks. *)

  val while_blocked : (mask -> 'a) -> 'a
  (** Calls a function while the thread blocks all signals. *)

  val set : mask -> unit
  (** The thread blocks these from now on. *)
end

(** Used by [concord-domainslib], [concord-miou], [concord-picos] and
    [concord-schedulers]. *)
module Timer : sig
  val after : float -> (unit -> unit) -> unit -> unit
  (** A timeout, and the function that cancels it. *)

  val run_due : unit -> unit
  (** Calls the actions that are due. *)

  val is_idle : unit -> bool
  (** Is no timeout pending? *)
end

(** {1 Reports} *)

(** Tasks, told apart. Used by all adapters but [concord-miou], and by
    [concord-schedulers]. {!Concord.Tools.Host_kit.Who} is the public part. *)
module Who : sig
  type t = Who.t = {
    host : string;
    name : string;
    domain : int;
    identity : Identity.pointer;
    origin : origin option;
  }
  (** A task. *)

  and origin = Who.origin = { parent : t; forked_at : Printexc.raw_backtrace }
  (** Where it was forked. *)

  val make :
    ?domain:int ->
    ?origin:origin ->
    host:string ->
    name:string ->
    'identity ->
    t
  (** {!Concord.Tools.Host_kit.Who.make}. *)

  val unknown : string -> t
  (** {!Concord.Tools.Host_kit.Who.unknown}. *)

  val answer : 'a Effect.t -> otherwise:'a -> (unit -> t) -> 'a
  (** {!Concord.Tools.Host_kit.Who.answer}. *)

  val here : ?domain:int -> t -> t
  (** The same task, in this domain. *)

  val new_number : unit -> int
  (** For the tasks of hosts that do not number them. *)

  val numbered : string -> int -> string
  (** [numbered "job" 12] is ["job 12"]. *)

  val asked_or : (unit -> t) -> t
  (** The nearest answer, for [concord-lwt] and [concord-async]. *)

  val answering : (unit -> t) -> (unit -> 'a) -> 'a
  (** The answer in a function, for jobs of [concord-domainslib]. *)

  type tasks = Who.tasks
  (** The tasks of one domain, for [concord-eio]. *)

  val tasks : unit -> tasks
  (** None yet. *)

  val once :
    ?domain:int ->
    ?origin:(unit -> origin option) ->
    tasks ->
    int ->
    host:string ->
    name:(unit -> string) ->
    'identity ->
    t
  (** {!make}, once for each number. *)
end

(** Waits that are kept for reports. Used by [concord-domainslib]. *)
module Waits : sig
  type target = Waits.target
  (** Where a task waits. *)

  val are_kept : unit -> bool
  (** Does the program keep them? *)
end

(** Used by [concord-domainslib]. *)
module Forks : sig
  val are_observed : unit -> bool
  (** Are waits kept, or is the program traced? *)

  val here : parent:Who.t -> Who.origin
  (** At the caller's frames. *)

  val run : Who.origin -> ask:(unit -> Who.t) -> (unit -> 'a) -> 'a
  (** Runs a function as a new task, and reports its start and its end. *)
end

(** Used by [concord-domainslib]. *)
module Filler : sig
  val add :
    (unit -> Who.t) -> is_resolved:('promise -> bool) -> 'promise -> unit
  (** Notes which task resolves a promise. *)
end

(** Used by [concord-lwt]. *)
module Strict : sig
  val is_on : bool
  (** Is [CONCORD_DEBUG] [strict]? *)
end

(** What looks for leaks. Used by [concord-lwt] and [concord-schedulers]. *)
module Leaks : sig
  val is_on : bool
  (** Does the program look for leaks? *)

  val guard_operation : 'a Concord_suspend.resumer -> 'a Concord_suspend.resumer
  (** For an operation that has no stack while it waits. *)

  val held_by_resumer :
    (('a, exn) result -> unit) -> (('a, exn) result -> unit) * (unit -> unit)
  (** For a set of threads, which its resumers keep alive. *)

  exception Hold
  (** For {!held_by_resumer}: what is alive is to be kept alive. *)

  val before_sleep : unit -> unit
  (** To be called before a loop sleeps. *)
end

(** {1 Schedulers and plug-ins} *)

(** Which handler of effects is the innermost one. Used by [concord-eio]. *)
module Innermost_handler : sig
  type t = Concord_stub.Innermost_handler.t
  (** A handler. *)

  type stack = Concord_stub.Innermost_handler.stack
  (** The number of a stack. *)

  val get : unit -> t
  (** The innermost one around the caller. *)

  val around : unit -> stack
  (** The stack around the caller's. *)

  val here : unit -> stack
  (** The caller's. *)
end

(** What a plug-in may say besides {!Concord.Tools.Host_kit.plug_in}. *)
module Plugin : sig
  type suspending = Plugin.suspending = {
    suspend : 'a. ('a Concord_suspend.resumer -> 'a option) -> 'a;
  }
  (** How the tasks of one domain are suspended. *)

  val add :
    ?who:(unit -> Who.t) ->
    ?on_this_domain:(unit -> suspending) ->
    Host_kit.plugin ->
    unit
  (** {!Concord.Tools.Host_kit.plug_in}, for [concord-eio]. [on_this_domain ()]
      is the plug-in's [suspend] for tasks that run on the calling domain. It is
      called when the plug-in's scheduler was found to be the innermost one, and
      used as long as that is known. So [concord-eio] looks up once, and not in
      each wait, what it keeps in [Domain.DLS]. *)

  val passes_suspend : Innermost_handler.t -> unit
  (** [passes_suspend handler], by [concord-eio]: [handler] is that of its
      scheduler's tasks, and handles none of the library's effects. From then
      on, [Suspend] is not performed where that one is the innermost handler,
      because it would only come back unhandled, which costs as much as the rest
      of a short wait. What is registered is asked, then the plug-ins, as if it
      had come back. The library's question for the computations around a wait
      is not performed either, if that handler is the only one on the stack.

      The program remembers one handler. A later call with another one does
      nothing. The two functions of [handler] must be ones that no other handler
      has.

      [concord-eio] knows it because it compares
      {!Innermost_handler.val-around}, before it performs Eio's effect, with
      {!Innermost_handler.val-here}, in the function that Eio calls for it. It
      does so only in a task in which [Suspend] has come back. *)

  val knows_handler : unit -> bool
  (** Was the program told of one? {b Cost}: one read. *)

  val add_who_of_trigger : (Domain_local_await.t -> Who.t option) -> unit
  (** Which task has a trigger? For [concord-domainslib]. *)

  val add_waker_of_trigger : (Domain_local_await.t -> bool) -> unit
  (** Has a trigger released after the tasks that are ready. For
      [concord-domainslib]. *)

  val add_end_of_task : (unit -> exn -> bool) -> unit
  (** For [concord-miou], which cancels a task by an exception. *)
end

(** What a task that spins says to its loop. {!Concord.Tools.Host_kit.Spin} is
    the public part. *)
module Spin : sig
  val sleeping : Host_kit.Spin.t -> (unit -> 'a) -> 'a
  (** [sleeping t sleep] is [sleep ()], in which a task of the loop sleeps. For
      [concord-picos]. *)

  val fall_asleep : Host_kit.Spin.t -> unit
  (** {!sleeping} begins, for [concord-eio]. *)

  val wake_up : Host_kit.Spin.t -> unit
  (** {!sleeping} ends, for [concord-eio]. *)

  val leave_turns : Host_kit.Spin.t -> unit
  (** The task no longer spins. For [concord-picos]. *)
end

(** The two halves of {!Concord.Tools.Host_kit.spin_first}, for plug-ins that
    would allocate much each time that a task spins. Used by [concord-eio] and
    [concord-picos]. *)
module Spinning : sig
  val begin_turns : Host_kit.Spin.t -> int
  (** How many turns the calling task should spin. If it is 0, the task suspends
      in {!Spin.sleeping}; otherwise it owes {!suspend_spinning}. *)

  val suspend_spinning :
    Host_kit.Spin.t ->
    Host_kit.spinning ->
    int ->
    ('a Concord_suspend.resumer -> 'a option) ->
    'a
  (** [suspend_spinning spin host (begin_turns spin) block]: the task spins, and
      then sleeps. If an exception comes between the two calls, which a signal
      handler can raise wherever something is allocated, the task owes
      {!Spin.leave_turns} instead. *)
end

(** How the host of the calling task is reached. *)
module Reach : sig
  val takes_slow_path : unit -> bool
  (** Are waits kept, traced, or looked at for leaks? For [concord-lwt] and
      [concord-schedulers]. *)

  val suspend_unlisted : ('a Concord_suspend.resumer -> 'a option) -> 'a
  (** {!Concord.Tools.Suspend.suspend} for a task that waits for work. For
      [concord-domainslib] and [concord-schedulers]. *)

  val suspend_loop : (unit Concord_suspend.resumer -> unit option) -> unit
  (** {!Concord.Tools.Suspend.suspend} for a loop that sleeps. For
      [concord-domainslib] and [concord-schedulers]. *)

  val park_or_refuse : exn -> ('a Concord_suspend.resumer -> 'a option) -> 'a
  (** Parks the thread, or refuses if nothing is left that could wake it. For
      [concord-lwt] and [concord-async]. *)

  val is_refusal : exn -> bool
  (** Was it raised last by {!Concord.Tools.Host_kit.refuse}? For [concord-aio].
  *)
end

(** Used by [concord-lwt] and [concord-schedulers]. *)
module Noted : sig
  val operation :
    host:string ->
    Waits.target ->
    ('a Concord_suspend.resumer -> 'a option) ->
    ('a Concord_suspend.resumer -> 'a option) * (exn option -> unit)
  (** Has an operation of an indirect style in reports and traces. *)
end

(** Used by [concord-domainslib] and [concord-lwt]. *)
module Identify : sig
  val waker : unit -> Who.t
  (** The calling task; it never suspends. *)
end

(** Threads that resume tasks, and do nothing else. Used by [concord-aio]. *)
module Others : sig
  type helpers = Others.helpers = { idle : int; busy : int }
  (** How many there are of a library. *)

  val add_helpers : (unit -> helpers) -> unit
  (** How to ask for them. *)
end

(** {1 Operations} *)

(** Used by [concord-lwt] and [concord-schedulers]. *)
module Operation : sig
  val target : ('t, 'x, 'a) Structure_kit.operation -> 't -> Waits.target
  (** Where a task that performs the operation waits. *)
end

(** Used by [concord-lwt] and [concord-async]. *)
module Names : sig
  val advice : string -> string
  (** What to use instead of the operation that was refused, for a message. *)
end

(** {1 Concord_fifo} *)

(** Used by [concord-aio]. *)
module Fifo : sig
  type poller = Fifo.poller = {
    wait : (unit Concord_suspend.resumer -> unit option) -> unit;
    poll : unit -> unit;
    every : int;
    spins : bool;
  }
  (** What a loop does when all of its tasks wait. *)

  val run_polled : (is_innermost:(unit -> bool) -> poller) -> (unit -> 'a) -> 'a
  (** [Concord_fifo.run], with a poller. *)
end

(** {1 Work of other libraries} *)

(** A thread that keeps a loop or a pool for the extent of a function. Used by
    [concord-domainslib] and [concord-lwt]. *)
module Keeper : sig
  type 'r t = 'r Keeper.t = {
    ready : 'r Promise.t;
    leave : unit Promise.t;
    over : unit Promise.t;
  }
  (** How the thread and the caller tell each other what has happened. *)

  val within : (Signals.mask -> 'r t -> unit) -> ('r -> 'a) -> 'a
  (** Calls a function with what the thread has made. *)
end

(** Used by [concord-domainslib] and [concord-lwt]. *)
module Stopping : sig
  val await :
    ?start:(unit -> unit) ->
    'a Promise.t ->
    stop:(unit -> unit) ->
    is_answer:(('a, exn) result -> bool) ->
    'a
  (** Waits for work that is told to stop if the caller is cancelled. *)
end
