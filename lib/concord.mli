(** Synchronisation between tasks of any concurrency library.

    {b Stability}: each module says in its second paragraph whether it is
    stable. {!page-index.stability} says what that means.

    You don't need to set anything up. Write [open Concord] and use the
    structures. {{!page-index}The index} lists them by purpose, and
    {{!page-tour}the tour} has an example of each.

    The [open] hides modules of the same name, but no values. If you need a
    hidden module, you have three choices:

    - open your own module afterwards, as in [open Concord open My_program].
    - give it another name before, as in [module My_tasks = Tasks open Concord].
    - don't open [Concord], and write [Concord.Mvar.put].

    These modules are hidden most often:

    - [Lazy], [Mutex], [Condition] and [Semaphore] of Stdlib. The modules of
      this library have the same functions, and [Stdlib.Mutex] still works.
    - [Event] of the threads library. This [Event] has all of its names.
    - [Promise] of [Eio.Std].
    - modules of your own program, most likely [Scope], [Tasks], [Stream],
      [Channel], [Signal] or [Tools]. *)

module Event = Event
(** Waiting for one of several operations, and timeouts. *)

(** {1 Tasks} *)

module Scope = Scope
(** A scope for tasks that end together. *)

module Tasks = Tasks
(** Running several functions at once, by [both], [all], [first], [any], [iter]
    or [map]. Also [with_timeout], [sleep], [yield] and [protect]. *)

(** {1 One value} *)

module Promise = Promise
(** A value that is available later. *)

module Mvar = Mvar
(** A box for one value. *)

module Lazy = Lazy
(** A value that is computed once, when a task first needs it. *)

(** {1 Many values} *)

module Channel = Channel
(** A channel without a buffer, where a sender and a receiver meet. *)

module Stream = Stream
(** A bounded queue. *)

module Work_queue = Work_queue
(** A bounded queue whose items can be withdrawn. *)

module Mailbox = Mailbox
(** An unbounded queue. *)

module Broadcast = Broadcast
(** Messages that every subscriber receives. *)

module Watch = Watch
(** A value that changes, and tasks that wait for the next change. *)

module Bvar = Bvar
(** A condition variable that carries a value. *)

(** {1 No value} *)

module Mutex = Mutex
(** Mutual exclusion. *)

module Condition = Condition
(** Condition variables. *)

module Semaphore = Semaphore
(** Counting and binary semaphores. *)

module Rwlock = Rwlock
(** A lock for many readers or one writer. *)

module Barrier = Barrier
(** A meeting point for a fixed number of tasks. *)

module Latch = Latch
(** A count that opens a gate once, at zero. *)

(** {1 Services} *)

module Pool = Pool
(** A pool of resources, such as connections. *)

module Signal = Signal
(** Operating-system signals, as promises and as a count. *)

module Shutdown = Shutdown
(** The orderly end of a service. *)

(** {1 Tools} *)

module Tools = Tools
(** Tools for debugging ([Debug], [Trace]), and for authors of schedulers and
    structures ([Suspend], [Host_kit], [Structure_kit], [Monadic]). *)

(** {1 For the packages of this project} *)

module Private = Private
(** Internal modules that the adapters use. They may change in any release. *)
