(** Synchronisation between tasks of any concurrency library.

    [open Concord] and use the structures; nothing needs to be set up. *)

module Event = Event
(** Blocking operations as values, choice among them, timeouts. *)

(** {2 Tasks} *)

module Scope = Scope
(** Tasks that end together, on whatever host calls. *)

(** @inline *)
include module type of struct
  include Tasks
end

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

module Linear = Linear
(** Handlers of one's own effects that drop no continuation. *)

module Host_kit = Host_kit
(** What schedulers are made of; plug-ins. *)

module Structure_kit = Structure_kit
(** What structures are made of. *)

(** {2 Other styles} *)

module Monadic = Monadic
(** The structures for a library of promises. *)
