(** Synchronisation between tasks of any concurrency library.

    {b Stability}: each module says in its second paragraph whether it is
    stable. {!page-index.stability} says what this means.

    You don't need to set anything up. Write [open Concord] and use the
    structures. {{!page-index}The index} lists them by purpose, and
    {{!page-tour}the tour} has an example of each.

    For example, a task of {!Concord_fifo} waits for a domain:

    {[
      # open Concord
      # let box = Mvar.create_empty ()
      val box : '_weak1 Mvar.t = <abstr>
      # let domain = Domain.spawn (fun () -> Mvar.put box "another domain")
      val domain : unit Domain.t = <abstr>
      # Concord_fifo.run (fun () -> Mvar.take box)
      - : string = "another domain"
      # Domain.join domain
      - : unit = ()
    ]}

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
    - modules of your own program, most likely [Scope], [Tasks], [Workers],
      [Local], [Stream], [Channel], [Signal] or [Tools].

    If you come from another library, its page translates the names:
    {{!/concord/stdlib}Stdlib}, {{!/concord/eio}Eio}, {{!/concord/lwt}Lwt},
    {{!/concord/async}Async}, {{!/concord/domainslib}Domainslib},
    {{!/concord/picos}Picos}, {{!/concord/kcas}Kcas}, {{!/concord/miou}Miou}. *)

(* The modules say themselves what they are: odoc shows their first sentences
   here. *)

(** {1 Choice} *)

module Event = Event

(** {1 Tasks} *)

module Scope = Scope
module Tasks = Tasks
module Workers = Workers
module Blocking = Blocking
module Local = Local

(** {1 One value} *)

module Promise = Promise
module Mvar = Mvar
module Lazy = Lazy

(** {1 Many values} *)

module Channel = Channel
module Stream = Stream
module Work_queue = Work_queue
module Mailbox = Mailbox
module Broadcast = Broadcast
module Watch = Watch
module Bvar = Bvar

(** {1 No value} *)

module Mutex = Mutex
module Condition = Condition
module Semaphore = Semaphore
module Rwlock = Rwlock
module Barrier = Barrier
module Latch = Latch

(** {1 Services} *)

module Pool = Pool
module Signal = Signal
module Shutdown = Shutdown

(** {1 Tools} *)

module Tools = Tools

(** {1 For the packages of this project} *)

module Private = Private
(** Internal modules for the adapters. They may change in any release. *)
