(** Synchronisation between tasks of any concurrency library.

    [open Concord] and use the structures; nothing needs to be set up.

    The [open] hides what has the same name and was there before. Of Stdlib that
    is [Lazy], [Mutex], [Condition], [Semaphore] and the [Event] of its threads:
    the first four are meant to be replaced, as they have the same functions
    here, and [Stdlib.Mutex] is still there. Of [Eio.Std] it is [Promise]. A
    program's own modules are hidden too if they are called as one of these:
    [Trace], [Debug], [Scope], [Tasks], [Stream], [Channel], [Private] are
    likely names. Then open the program's after this one
    ([open Concord open My_program]), give it another name before
    ([module My_trace = Trace open Concord]), or do not open: [Concord.Mvar.put]
    is no longer than [Eio.Stream.add]. The values are {!both}, {!all},
    {!first}, {!any}, {!with_timeout} and {!yield}. *)

module Event = Event
(** Blocking operations as values, choice among them, timeouts. *)

module Evt = Event
(** {!module-Event}, under a name that nothing else has: Stdlib's [Event], of
    the threads library, and a program's own [Event] hide the first name or are
    hidden by it, as the [open] comes first or last. The functions that make
    events end in [_evt]. *)

(** {2 Tasks} *)

module Scope = Scope
(** Tasks that end together, on whatever host calls. *)

module Tasks = Tasks
(** Several things at once: [both], [all], [first], [any], [iter], [map]; and
    [with_timeout], [sleep], [yield]. *)

val both : (unit -> 'a) -> (unit -> 'b) -> 'a * 'b
(** {!Tasks.both}: runs both functions at once. *)

val all : (unit -> 'a) list -> 'a list
(** {!Tasks.all}: runs all functions at once. *)

val first : ?combine:('a -> 'a -> 'a) -> (unit -> 'a) -> (unit -> 'a) -> 'a
(** {!Tasks.first}: runs both at once, and cancels the one that is slower. *)

val any : ?combine:('a -> 'a -> 'a) -> (unit -> 'a) list -> 'a
(** {!Tasks.any}: runs all at once, and cancels those that are slower. *)

val with_timeout : float -> (unit -> 'a) -> 'a option
(** {!Tasks.with_timeout}: runs a function, and cancels it if that takes longer.
*)

val yield : unit -> unit
(** {!Tasks.yield}: lets other ready tasks have their turn. *)

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

module Mailbox = Mailbox
(** An unbounded queue. *)

module Broadcast = Broadcast
(** Every subscriber sees every value. *)

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

(** {2 For writers of schedulers and of structures} *)

module Suspend = Suspend
(** The effect that makes schedulers compose, and its contract. *)

module Host_kit = Host_kit
(** What schedulers are made of; plug-ins. *)

module Structure_kit = Structure_kit
(** What structures are made of. *)

(** {2 Finding faults} *)

module Debug = Debug
(** Who waits for whom. *)

module Trace = Trace
(** What tasks do, told while they do it. *)

(** {2 Other styles} *)

module Monadic = Monadic
(** The structures for a library of promises. *)

(** {2 For the packages of this project} *)

module Private = Private
(** What the adapters use of the inside. Nothing in it is promised. *)
