(** Lightweight threads in seven styles, all of which wait for tasks of any
    host.

    {b Stability}: experimental, may change in any release.

    This is the system of "Light Weight Concurrency in OCaml: Continuations,
    Monads, Promises, Events" (Christophe Deleuze, 2010; here "the paper"). Each
    style is a module of about 100 lines, to be read side by side with the
    others. What they wait in are the structures of {!Concord}: so a thread of
    one style exchanges values with threads of the others, and with tasks of
    Eio, Domainslib, Lwt and all other hosts, on any domain.

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

    {2 Semantics}

    That of section 2.1 of the paper, and what it leaves open:

    - No thread runs before [start]. Threads begin in the order in which they
      were spawned. (A system thread is created before the next one begins; what
      they do first may be interleaved.) [start] returns when the last thread
      has ended, or was ended by [stop]. Then there is no thread left, and
      [spawn] begins a new set.
    - Each system thread has a set of its own for each style: [spawn] adds to
      the set of the caller's system thread, and [start] runs that. A task that
      its host may move to another system thread does not wait between the two;
      once started, a set goes with the task.
    - [halt] ends the calling thread: in direct style at once, and in a monad
      where it is bound, so that what follows is not run. In trampolined style a
      thread ends by calling no operation any more, and [halt] says so.
    - [stop] ends all threads of the set, the calling one first. A thread that
      has not begun never does. A thread that waits has waited in vain: it has
      taken and given nothing. One that was already resumed, by a task that gave
      it something, goes on up to where it has to wait again. A thread in direct
      style ends by an exception, so that its finalisers run;
      {!Concord.Tasks.protect} puts that off. Called by code that is in no
      thread of the style, [stop] forgets what that has spawned and not started;
      to end a set from outside, cancel the task that called [start].
    - An exception that a thread raises ends all threads as [stop] does. Then
      [start] raises it, with its backtrace. What a signal handler raises does
      so too; a thread that was just being resumed may then not be unwound.
    - If the task that called [start] is cancelled while all threads wait, they
      are ended likewise, and [start] raises the host's exception.
    - [start] suspends the calling task, whatever its host, while all threads
      wait. As long as one is ready, the calling task does not give way to
      others of its host. If nothing is left that could resume a thread, all are
      ended, and [start] raises {!Deadlock}. (Not where [Threads] run in a
      thread of a light style: each set takes the other for what could resume
      it.) *)

exception Deadlock of int
(** So many threads were left, and nothing could resume them: see
    {!Concord.Tools.Host_kit.may_be_woken}. Raised by [start]. *)

exception Ended
(** What ends a thread in direct style: raised by [halt] and [stop], and, once
    the set was stopped, where the thread waits. Code that catches all
    exceptions raises it again. *)

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

(** {2 What they are built on} *)

module Cont = Cont
module Prompt = Prompt
module Equeue = Equeue

(** {2 For handlers of your own} *)

module Linear = Linear
