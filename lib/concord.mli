(** Synchronisation between tasks of any concurrency library.

    {b Stability}: each module says in its second paragraph whether it is
    stable. {!page-index.stability} says what that means.

    [open Concord] and use the structures; nothing needs to be set up.

    The [open] hides what has the same name and was there before. Of Stdlib that
    is [Lazy], [Mutex], [Condition], [Semaphore] and the [Event] of its threads:
    the first four are meant to be replaced, as they have the same functions
    here, and [Stdlib.Mutex] is still there. Of [Eio.Std] it is [Promise]. A
    program's own modules are hidden too if they are called as one of these:
    [Scope], [Tasks], [Stream], [Channel], [Signal], [Tools] are likely names.
    Then open the program's after this one ([open Concord open My_program]),
    give it another name before ([module My_tasks = Tasks open Concord]), or do
    not open: [Concord.Mvar.put] is no longer than [Eio.Stream.add]. The [open]
    brings no values. *)

module Event = Event
(** Blocking operations as values, choice among them, timeouts. *)

(** {2 Tasks} *)

module Scope = Scope
(** Tasks that end together, on whatever host calls. *)

module Tasks = Tasks
(** Several things at once: [both], [all], [first], [any], [iter], [map]; and
    [with_timeout], [sleep], [yield], [protect]. *)

(** {2 One value} *)

module Promise = Promise
(** A value that will be there later: a promise, or IVar. *)

module Mvar = Mvar
(** A box for one value: an MVar. *)

module Lazy = Lazy
(** A value that is computed when it is first wanted. *)

(** {2 Many values} *)

module Channel = Channel
(** Sender and receiver meet. *)

module Stream = Stream
(** A bounded queue. *)

module Work_queue = Work_queue
(** A bounded queue whose items can be withdrawn. *)

module Mailbox = Mailbox
(** An unbounded queue. *)

module Broadcast = Broadcast
(** Every subscriber sees every value. *)

module Watch = Watch
(** The latest value, for tasks that wait until it changes. *)

module Bvar = Bvar
(** A condition that carries a value. *)

(** {2 No value} *)

module Mutex = Mutex
(** Mutual exclusion. *)

module Condition = Condition
(** Condition variables. *)

module Semaphore = Semaphore
(** Counting and binary semaphores. *)

module Rwlock = Rwlock
(** Many readers, or one writer. *)

module Barrier = Barrier
(** Tasks wait for each other, again and again. *)

module Latch = Latch
(** A gate that opens once. *)

(** {2 Services} *)

module Pool = Pool
(** A pool of resources, such as connections. *)

module Signal = Signal
(** Signals of the system, as promises and as a count. *)

module Shutdown = Shutdown
(** Close in order, wait a while, then cancel. *)

(** {2 Tools} *)

module Tools = Tools
(** Finding faults ([Debug], [Trace]), and what authors of schedulers and of
    structures need ([Suspend], [Host_kit], [Structure_kit], [Monadic]). *)

(** {2 For the packages of this project} *)

module Private = Private
(** What the adapters use of the inside. Nothing in it is promised. *)
