(** How other threads reach Async's scheduler.

    Async's state belongs to the thread that holds Async's lock, on the domain
    that Async was linked on. What other threads want done there goes through a
    queue of wakes, a {!Concord.Tools.Host_kit.Inbox}. (Async's own
    [Thread_safe] relies on the master lock, of which each domain has one: so it
    serves the threads of that domain only.) *)

val is_here : unit -> bool
(** May the calling thread touch Async's state? *)

val is_in_async : unit -> bool
(** Does the calling thread run code of Async for whose return Async waits: a
    job, or the function of [Thread_safe.run_in_async]; or a signal handler or a
    finaliser in the thread that runs the cycles, after the first {!enter}? *)

val has_exited : unit -> bool
(** Has the calling thread called [exit]? Then it runs a function of [at_exit],
    and the job that called it never continues. *)

val enter : unit -> unit
(** Must be called before the first {!resume}.

    - {b Raises} [Invalid_argument] unless {!is_here}. *)

val resumer :
  'a Concord.Tools.Host_kit.Decision.t ->
  ('a, exn) result Async.Ivar.t ->
  'a Concord.Tools.Suspend.resumer
(** [resumer decision ivar] decides; [false] if it had been decided. Then [ivar]
    is filled with the outcome in a cycle of Async, soon, in the order of the
    calls. From any thread of any domain, at any moment.

    If it raises what a signal handler raises, then all of it has happened.
    - {b Cost}: O(1). A system call only if no cycle is on, and none was asked
      for. *)

val post : (unit -> unit) -> unit
(** Adds a job for Async, in the main execution context. It is run in a cycle
    after the first {!enter}, soon, in the order of the calls. From any thread
    of any domain, at any moment. The job raises nothing.
    - {b Cost}: as {!resume}. *)

val begin_wait : unit -> unit
(** A task of Async begins to wait for somebody who calls {!resume}. Called by a
    thread that {!is_here}, before or after that. *)

val spin : Concord.Tools.Host_kit.Spin.t
(** How long Async looks before it sleeps while tasks wait. For tests. *)
