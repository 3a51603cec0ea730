(** How other threads reach Async's scheduler.

    Async's state belongs to the thread that holds Async's lock, on the domain
    that Async was linked on. Requests of other threads go through a queue of
    wakes, a {!Concord.Tools.Host_kit.Inbox}. (Async's own [Thread_safe] relies
    on the master lock. Each domain has one, so [Thread_safe] serves the threads
    of that domain only.) *)

val is_here : unit -> bool
(** [true] if the calling thread may touch Async's state. *)

val is_in_async : unit -> bool
(** [true] if the calling thread runs code of Async for whose return Async
    waits. This is a job, or the function of [Thread_safe.run_in_async]. It is
    also a callback from C, such as a finaliser, in the thread that runs the
    cycles, after the first {!enter}. *)

val has_exited : unit -> bool
(** [true] if the calling thread has called [exit]. Then it runs a function of
    [at_exit], and the job that called it never continues. *)

val enter : unit -> unit
(** Call it before the first {!resumer}.

    - {b Raises} [Invalid_argument] unless {!is_here}. *)

val resumer :
  'a Concord.Tools.Host_kit.Decision.t ->
  ('a, exn) result Async.Ivar.t ->
  'a Concord.Tools.Suspend.resumer
(** [resumer decision ivar] decides. It is [false] if the wait had been decided.
    Then a cycle of Async fills [ivar] with the outcome, soon, in the order of
    the calls. Any thread of any domain may call it, at any moment.

    Unbroken: if it raises, all of it has happened.

    - {b Cost}: O(1). It needs a system call only if no cycle is on, and none
      was asked for. *)

val post : (finally:(unit -> unit) -> unit) -> unit
(** Adds a job for Async, in the main execution context. It begins in a cycle
    after the first {!enter}, soon, in the order of the calls. Any thread of any
    domain may call [post], at any moment. The job raises nothing, and calls
    [finally] in Async when it has ended.

    - {b Cost}: that of {!resumer}. *)

val spin : Concord.Tools.Host_kit.Spin.t
(** How long Async spins before it sleeps. For tests. *)
