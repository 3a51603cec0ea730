(** For the packages of this project.

    {b Stability}: none, nothing is promised.

    The adapters, [concord-aio] and [concord-schedulers] use some internal
    functions of [concord]. All of them are listed here. {b Don't use them},
    because any release may change or remove them without notice. If your own
    scheduler needs one of them, ask us to add it to {!Concord.Tools.Host_kit}.

    For each module, a line names the packages that use it. The functions are
    described in the interface of the module of the same name, in [lib/]. *)

(** {1 Small tools} *)

(** Used by [concord-aio] and [concord-schedulers]. *)
module Atomically : sig
  val update : 's Atomic.t -> ('s -> 's) -> unit
  (** Replaces the immutable state of an atomic in one step. *)

  val update_surely : 's Atomic.t -> ('s -> 's) -> unit
  (** The same, unbroken. *)
end

(** Used by [concord-domainslib], to tell pools apart. *)
module Identity : sig
  type pointer = Identity.pointer
  (** The identity of a task in {!Who}. *)

  type 'a attached = 'a Identity.attached
  (** Data that belongs to a value, but doesn't keep it alive. *)

  val attach : 'v -> 'a -> 'a attached
  (** Attaches data to a value. *)

  val attached : 'a attached -> 'a option
  (** The data, or [None] once the value was collected. *)

  val is_useless : 'a attached -> bool
  (** [true] once the value was collected. *)

  val same_code : ('a -> 'b) -> ('a -> 'b) -> bool
  (** [true] if two closures run the same code. It recognises a trigger. *)
end

(** Used by [concord-miou]. *)
module Late : sig
  val protect : (unit -> 'a) -> 'a
  (** Delays exceptions that would end a wait until the thread's next wait. *)
end

(** Used by [concord-lwt] and [concord-async], which add their library's
    context, and by [concord-schedulers.policies]. *)
module Context : sig
  type t = Context.t

  val add : (unit -> t) -> unit
  val here : unit -> t
  val save : t -> unit -> unit
end

(** Used by the adapters and [concord-schedulers], which carry a task's values
    to other tasks, or keep them. *)
module Locals : sig
  type bindings = Bindings.t

  type slot = Locals.slot = {
    read : unit -> bindings option;
    within : 'a. bindings -> (unit -> 'a) -> 'a;
    kept : (unit -> bindings option) option;
  }
  (** Where a scheduler keeps the values of its tasks. *)

  val add : ?plugin:Host_kit.plugin -> slot -> unit
  (** Adds such a scheduler. *)

  type place = Locals.place
  type _ Effect.t += Where : place Effect.t

  val in_slot : slot -> place
  (** The answer to [Where] of a scheduler with a slot. *)

  val kept : unit -> place option
  (** The answer of a small scheduler to [Where]. *)

  val carry : ('a -> 'b) -> 'a -> 'b
  (** A function with the caller's values, for another task. *)
end

(** Used by [concord-domainslib] and [concord-lwt], to start domains. *)
module Signals : sig
  type mask = Signals.mask
  (** The signals that a thread blocks. *)

  val while_blocked : (mask -> 'a) -> 'a
  (** Calls a function while the thread blocks all signals. *)

  val set : mask -> unit
  (** The thread blocks these from now on. *)

  val name : int -> string
  (** ["SIGTERM"], for reports. *)
end

(** Used by [concord-domainslib], [concord-miou], [concord-picos] and
    [concord-schedulers]. *)
module Timer : sig
  val after : float -> (unit -> unit) -> unit -> unit
  (** A timeout, and the function that cancels it. *)

  val run_due : unit -> unit
  (** Calls the actions that are due. *)

  val is_idle : unit -> bool
  (** [true] if no timeout is pending. *)
end

(** {1 Reports} *)

(** The identities of tasks. Used by all adapters but [concord-miou], and by
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
  (** The place where it was forked. *)

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
  (** A number for a task of a host that doesn't number its tasks. *)

  val numbered : string -> int -> string
  (** [numbered "job" 12] is ["job 12"]. *)

  val asked_or : (unit -> t) -> t
  (** The nearest answer, for [concord-lwt] and [concord-async]. *)

  val answering : (unit -> t) -> (unit -> 'a) -> 'a
  (** The answer in a function, for jobs of [concord-domainslib]. *)

  type tasks = Who.tasks
  (** The tasks of one domain, for [concord-eio]. *)

  val tasks : unit -> tasks
  (** An empty set of tasks. *)

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

(** What is observed, and the operations of indirect styles. Used by
    [concord-domainslib], [concord-lwt] and [concord-schedulers]. *)
module Observer : sig
  val are_kept : unit -> bool
  (** [true] if the program keeps its waits. *)

  val finds_leaks : unit -> bool
  (** [true] if the program looks for leaks. *)

  val takes_slow_path : unit -> bool
  (** [true] if waits are kept, traced, or searched for leaks. *)

  val operation :
    host:string ->
    Target.t ->
    ('a Concord_suspend.resumer -> 'a option) ->
    ('a Concord_suspend.resumer -> 'a option) * (exn option -> unit)
  (** Shows an operation of an indirect style in reports and traces. *)
end

(** Used by [concord-domainslib]. *)
module Forks : sig
  val are_observed : unit -> bool
  (** [true] if waits are kept or the program is traced. *)

  val here : unit -> Who.origin
  (** The origin of a task that the caller forks. *)

  val run : Who.origin -> ask:(unit -> Who.t) -> (unit -> 'a) -> 'a
  (** Runs a function as a new task, and reports its start and its end. *)
end

(** Used by [concord-domainslib]. *)
module Filler : sig
  val add :
    (unit -> Who.t) -> is_resolved:('promise -> bool) -> 'promise -> unit
  (** Records which task resolves a promise. *)
end

(** Used by [concord-lwt]. *)
module Strict : sig
  val is_on : bool
  (** [true] if [CONCORD_DEBUG] is [strict]. *)
end

(** The search for leaks. Used by [concord-lwt] and [concord-schedulers]. *)
module Leaks : sig
  val guard_operation : 'a Concord_suspend.resumer -> 'a Concord_suspend.resumer
  (** For an operation that has no stack while it waits. *)

  val held_by_resumer :
    (('a, exn) result -> unit) -> (('a, exn) result -> unit) * (unit -> unit)
  (** For a set of threads, which its resumers keep alive. *)

  exception Hold
  (** For {!held_by_resumer}, to keep alive what is alive. *)

  val before_sleep : unit -> unit
  (** Call it before a loop sleeps. *)
end

(** {1 Schedulers and plug-ins} *)

(** The innermost handler of effects. Used by [concord-eio]. *)
module Innermost_handler : sig
  type t = Concord_stub.Innermost_handler.t
  (** A handler. *)

  type stack = Concord_stub.Innermost_handler.stack
  (** The number of a stack. *)

  val get : unit -> t
  (** The innermost handler around the caller. *)

  val around : unit -> stack
  (** The stack around the caller's. *)

  val here : unit -> stack
  (** The caller's stack. *)
end

(** More options for a plug-in than {!Concord.Tools.Host_kit.plug_in} has. *)
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
      the result is used as long as that is known. So [concord-eio] reads its
      [Domain.DLS] once, and not in each wait. *)

  val passes_suspend : Innermost_handler.t -> unit
  (** [passes_suspend handler] announces that [handler] is the handler of the
      scheduler's tasks, and handles none of the library's effects. It is for
      [concord-eio].

      From then on, the library doesn't perform [Suspend] if that is the
      innermost handler. The effect would only come back unhandled, which costs
      as much as the rest of a short wait. Instead, the library asks the
      registered schedulers and then the plug-ins at once. If that handler is
      the only one on the stack, the library doesn't ask for the computations
      around a wait either.

      The program remembers one handler. A later call with another one does
      nothing. No other handler may have the two functions of [handler].

      [concord-eio] finds the handler by comparing two stacks, in a task in
      which [Suspend] has come back. One is {!Innermost_handler.val-around}
      before it performs Eio's effect. The other is
      {!Innermost_handler.val-here} in the function that Eio calls for this
      effect. *)

  val knows_handler : unit -> bool
  (** [true] if {!passes_suspend} was called. It costs one read. *)

  val add_who_of_trigger : (Domain_local_await.t -> Who.t option) -> unit
  (** Tells which task has a trigger. For [concord-domainslib]. *)

  val add_waker_of_trigger : (Domain_local_await.t -> bool) -> unit
  (** Releases a trigger after the tasks that are ready. For
      [concord-domainslib]. *)

  val add_end_of_task : (unit -> exn -> bool) -> unit
  (** For [concord-miou], which cancels a task by an exception. *)
end

(** Messages of a spinning task to its loop. {!Concord.Tools.Host_kit.Spin} is
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
  (** The number of turns that the calling task should spin. If it is 0, the
      task suspends in {!Spin.sleeping}. Otherwise it has to call
      {!suspend_spinning}. *)

  val suspend_spinning :
    Host_kit.Spin.t ->
    Host_kit.spinning ->
    int ->
    ('a Concord_suspend.resumer -> 'a option) ->
    'a
  (** [suspend_spinning spin host (begin_turns spin) block] lets the task spin
      and then sleep. If an exception comes between the two calls, the task has
      to call {!Spin.leave_turns} instead. *)
end

(** Finding the host of the calling task. *)
module Reach : sig
  val suspend_unlisted : ('a Concord_suspend.resumer -> 'a option) -> 'a
  (** {!Concord.Tools.Suspend.suspend} for a task that waits for work. For
      [concord-domainslib] and [concord-schedulers]. *)

  val suspend_loop : (unit Concord_suspend.resumer -> unit option) -> unit
  (** {!Concord.Tools.Suspend.suspend} for a loop that sleeps. For
      [concord-domainslib] and [concord-schedulers]. *)

  val let_host_run : unit -> unit
  (** {!Concord.Tasks.yield}, except that a thread without a scheduler continues
      at once. For [concord-schedulers]. *)

  val park_or_refuse : exn -> ('a Concord_suspend.resumer -> 'a option) -> 'a
  (** Parks the thread, or refuses if nothing could wake it. For [concord-lwt]
      and [concord-async]. *)

  val is_refusal : exn -> bool
  (** [true] if {!Concord.Tools.Host_kit.refuse} was the last to raise it. For
      [concord-aio]. *)
end

(** Used by [concord-domainslib] and [concord-lwt]. *)
module Identify : sig
  val waker : unit -> Who.t
  (** The calling task. It never suspends. *)
end

(** Threads that only resume tasks. Used by [concord-aio]. *)
module Others : sig
  type helpers = Others.helpers = { idle : int; busy : int }
  (** The numbers of such threads of a library. *)

  val add_helpers : (unit -> helpers) -> unit
  (** Registers a function that returns these numbers. *)
end

(** {1 Operations} *)

(** Used by [concord-lwt], [concord-schedulers] and [concord-aio]. *)
module Operation : sig
  val target : ('t, 'x, 'a) Structure_kit.operation -> 't -> Target.t
  (** The target of a task that performs the operation. *)

  val wait : ('t, 'x, 'a) Structure_kit.operation -> 't -> 'x -> 'a
  (** [Structure_kit.wait] for callers that have just attempted the operation in
      vain. *)
end

(** Used by [concord-lwt] and [concord-async]. *)
module Names : sig
  val advice : string -> string
  (** The advice in a message about a refused operation. *)
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
  (** The functions that a loop calls when all of its tasks wait. *)

  val run_polled : (is_innermost:(unit -> bool) -> poller) -> (unit -> 'a) -> 'a
  (** [Concord_fifo.run], with a poller. *)
end

(** {1 Work of other libraries} *)

(** A thread that keeps a loop or a pool for the extent of a function. Used by
    [concord-domainslib], [concord-eio] and [concord-lwt]. *)
module Keeper : sig
  type 'r t = 'r Keeper.t = {
    ready : 'r Promise.t;
    leave : unit Promise.t;
    over : unit Promise.t;
  }
  (** Promises through which the thread and the caller synchronise. *)

  val within : (Signals.mask -> 'r t -> unit) -> ('r -> 'a) -> 'a
  (** Calls a function with the thread's loop or pool. *)

  val wait_to_leave : 'r t -> unit
  (** Waits for the end of that function, in the thread. *)

  val check_grace : string -> float -> unit
  (** Raises [Invalid_argument] if a grace period is negative or not a number.
  *)

  val with_loop :
    no_loop:exn -> ?ended:('r t -> unit) -> ('r t -> unit) -> ('r -> 'a) -> 'a
  (** Calls a function with a loop that has a domain of its own. *)
end

(** Used by [concord-domainslib], [concord-eio] and [concord-lwt]. *)
module Stopping : sig
  val await :
    ?start:(unit -> unit) ->
    'a Promise.t ->
    stop:(unit -> unit) ->
    is_answer:(('a, exn) result -> bool) ->
    'a
  (** Waits for work, and stops the work if the caller is cancelled. *)

  val call :
    cancelled:exn ->
    is_answer:(('a, exn) result -> bool) ->
    post:('a Promise.t -> begins:(unit -> bool) -> unit) ->
    cancel:(unit -> unit) ->
    'a
  (** Waits for a function that another loop calls. *)
end
