(** Lightweight threads in seven styles, which can wait for tasks of any host.

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    You can write a thread as an ordinary function, as functions with a
    continuation, or in a monad. This library has threads in all of these
    styles, for you to compare them. It is the system of "Light Weight
    Concurrency in OCaml: Continuations, Monads, Promises, Events" (Christophe
    Deleuze, 2010, called "the paper" below). Each style is a module of about
    100 lines, and you can read it side by side with the others.

    {[
      # open Concord_styles
      # let box = Trampoline.make_mvar ()
      val box : '_weak1 Trampoline.mvar = <abstr>
      # Trampoline.(spawn (fun () -> take_mvar box >>= print_string))
      - : unit = ()
      # Callcc.spawn (fun () ->
          Trampoline.start ();
          print_endline ", world")
      - : unit = ()
      # Callcc.spawn (fun () -> Callcc.put_mvar box "Hello")
      - : unit = ()
      # Callcc.start ()
      Hello, world
      - : unit = ()
    ]}

    The threads wait in the structures of {!Concord}. A thread of one style can
    exchange values with threads of the others, and with tasks of Eio,
    Domainslib, Lwt and all other hosts, on any domain.
    {{!/concord/styles}Threads in seven styles} compares the styles.

    {2 Semantics}

    The threads behave as section 2.1 of the paper says. These rules settle the
    points the paper leaves open.

    - {b start}. No thread runs before [start]. Threads begin in the order in
      which they were spawned. (A system thread is created before the next one
      begins, but their first steps may be interleaved.) [start] returns when
      the last thread has ended, or was ended by [stop]. Then there is no thread
      left, and [spawn] begins a new set.
    - {b Sets}. Each system thread has a set of its own for each style. [spawn]
      adds to the set of the caller's system thread, and [start] runs this set.
      A task must not wait between [spawn] and [start] if its host may move it
      to another system thread. Once started, a set goes with the task.
    - {b halt} ends the calling thread. In direct style it ends at once. In a
      monad it ends where [halt] is bound, and the code after it isn't run. In
      trampolined style a thread ends when it doesn't call any operation, and
      [halt] does just this.
    - {b stop} ends all threads of the set, the calling one first. A thread that
      hasn't begun never does. A waiting thread has waited in vain, and has
      taken and given nothing. If a task has already resumed a thread with an
      item, the thread continues until it has to wait again. A thread in direct
      style ends with an exception, which runs its finalisers.
      {!Concord.Tasks.protect} defers the exception. If code outside the style's
      threads calls [stop], it forgets the threads it has spawned and not
      started. To end a set from outside, cancel the task in [start].
    - {b Exceptions}. If a thread raises, all threads end as by [stop]. Then
      [start] raises the exception, with its backtrace. If a signal handler
      raises, the same happens, but a thread just being resumed may then not be
      unwound.
    - {b Cancelled}. If the task in [start] is cancelled while all threads wait,
      they are ended likewise, and [start] raises the host's exception.
    - {b Suspends}. [start] suspends the calling task, whatever its host, while
      all threads wait. As long as a thread is ready, the calling task does not
      give way to other tasks of its host.
    - {b Deadlock}. If nothing is left to resume a thread, all threads are
      ended, and [start] raises {!Deadlock}. (This isn't noticed if [Threads]
      run in a thread of a light style, because each set expects the other to
      resume it.) *)

exception Deadlock of int
(** [start] raises [Deadlock n] if [n] threads were left, and nothing could
    resume them (see {!Concord.Tools.Host_kit.may_be_woken}). *)

exception Ended
(** [Ended] ends a thread in direct style.

    [halt] and [stop] raise it. Once the set was stopped, it is also raised
    where the thread waits. If your code catches all exceptions, raise it again.
*)

(** {2 Signatures} *)

module type Direct = Signatures.Direct
(** Figure 4 of the paper. *)

module type Trampolined = Signatures.Trampolined
(** Figure 5 of the paper. *)

module type Monadic = Signatures.Monadic
(** Figure 6 of the paper. *)

(** {2 Direct styles} *)

module Threads = Threads
module Callcc = Callcc
module Delimited = Delimited

(** {2 Indirect styles} *)

module Trampoline = Trampoline
module Continuation = Continuation
module Promise = Promise
module Events = Events

(** {2 Building blocks of the styles} *)

module Cont = Cont
module Prompt = Prompt
module Equeue = Equeue

(** {2 For handlers of your own} *)

module Linear = Linear
