(** Lazy: a value that is computed when it is first wanted; tasks of any host
    can want it at once.

    {b Stability}: stable.

    It has all functions of Stdlib's [Lazy], with the same meaning, for programs
    with more than one task: the computation runs once, in the task that comes
    first. A task that comes meanwhile waits, and blocks no other. (Section 6 of
    "Effectively Composing Concurrency Libraries".)

    {[
      # let answer = Lazy.from_fun (fun () -> print_string "once "; 42)
      val answer : int Concord.Lazy.t = <abstr>
      # let ask () = Printf.printf "%d " (Lazy.force answer)
      val ask : unit -> unit = <fun>
      # List.iter Thread.join [ Thread.create ask (); Thread.create ask () ]
      once 42 42
      - : unit = ()
    ]}

    The keyword [lazy] makes values of Stdlib's. Write [from_fun], or
    [[%lazy e]] with [ppx_concord]; or [[@@@concord.lazy]] at the head of a
    file, with [ppx_concord], for the keyword and its patterns. {!of_stdlib} is
    for what others made.

    {2 What is promised}

    - {b Once}. A computation that returned or raised is never run again, and
      what it captured can be collected. An exception is raised again for
      everybody, with the backtrace of where it was raised.
    - {b Cancelled} while it computes: the next task that waits runs the
      computation again, or the next that comes; see {!from_fun}. The same holds
      if the computation had to wait where its host can suspend nothing
      ({!Concord.Tools.Host_kit.refuse}: a plain callback of Lwt, a job of
      Async), whatever it raised then.
    - {b Cycles}. {!force} raises {!Undefined} if the value is being forced by
      the calling task itself, directly or through other lazy values; also if
      that goes over several tasks, each of which forces what another one needs:
      then at least one of them gets the exception. It is never raised merely
      because another task is forcing the value. (A task that was cancelled
      counts until it is unwound.) A cycle that is closed by something else
      waits for ever: by a computation that joins a task, or runs a scheduler,
      in which the same value is forced; by a signal handler, a finaliser or
      another callback from C that interrupted the computation; by a computation
      that is a suspended generator of the calling task.
    - {b Order}: tasks that wait are resumed in the order of their arrival, and
      then the events in theirs.
    - {b Signal handlers} may raise in {!force} at any moment. In native code no
      task then waits forever for the value. If a handler raises in the
      computation, that is an exception like any other. If it raises elsewhere,
      the value is as it was, or it is forced, or the computation is run again.

    While waits are kept ({!Concord.Tools.Debug.keep_waits}), a report says
    which task forces a value for which others wait, if that task began to do so
    since. If the computation is to be run again, the report says what it raised
    the last time, as in [failed before: Exit]. The value's name is given by
    {!Concord.Tools.Debug.val-name}, because {!from_val} and the others are
    Stdlib's.

    An operation without a {b Suspends} line never suspends and needs no running
    scheduler. Without a {b Cost} line it is O(1). *)

type 'a t
(** A lazy value of type ['a]. *)

exception Undefined
(** Stdlib's [Lazy.Undefined]: the value is needed to compute itself. *)

type cancel =
  [ `Restart
    (** The computation is run again: by the task that waited longest, or by the
        next that comes. This holds for whatever it raises in a task that is
        cancelled. *)
  | `Record  (** What it raised is remembered, as any other exception. *)
  | `Protect
    (** The cancellation is not delivered while it computes, if the host can
        defer it: see {!Concord.Tasks.protect}. *) ]
(** What becomes of a computation if the task that runs it is cancelled. *)

val from_fun : ?cancel:cancel -> (unit -> 'a) -> 'a t
(** [from_fun f] is computed by [f ()]. [cancel] is [`Restart] by default. *)

val from_val : 'a -> 'a t
(** [from_val v] is forced from the start. *)

val of_stdlib : 'a Stdlib.Lazy.t -> 'a t
(** [of_stdlib l] is computed by forcing [l], once, as with [`Protect]: [l]
    itself remembers what is raised in it, a cancellation too. [l] may be given
    to [of_stdlib] more than once: a task that forces another one of these
    values meanwhile waits for the first.

    If code that knows nothing of Concord forces [l] itself at the same time, in
    another task or domain, then the one that comes second gets an exception:
    {!Being_forced} from {!force}, {!Undefined} from Stdlib's. *)

exception Being_forced
(** Raised by {!force} of a value of {!of_stdlib} if Stdlib's lazy value is
    being forced by code that does not use {!of_stdlib}: by another task or
    domain, or further down on the caller's own stack. Nobody could tell these
    apart, nor resume the caller when it is done; so [force] does not wait. The
    exception is not remembered: the next {!force} tries again. *)

val force : 'a t -> 'a
(** [force t] is the value of [t], computed by the calling task if no task has
    computed it or does so.

    - {b Suspends} while another task computes it.
    - {b Cancelled} while suspended: the waiter is withdrawn from [t] and the
      host's exception is raised.
    - {b Order}: waiters are resumed in the order of their arrival.
    - {b Cost}: if forced, two reads. To wait: O(1), also to withdraw
      (amortised). A wait of a task that is itself forcing [n] lazy values costs
      O(n) more, and so does each of its computations that raises. Each wait
      also costs O(m) for [m] tasks that wait for one another in a row.
    - {b Long chains}. If the computation of a value forces the next one, and so
      on, a chain of [n] values takes O(n{^ 2}) time. The page "Limits" has
      figures. Force such a chain from its end.
    - {b Raises} [e] if the computation raised [e].

    @raise Undefined if the value is needed to compute itself. *)

val force_val : 'a t -> 'a
(** {!force}, under Stdlib's second name. *)

val await_evt : 'a t -> 'a Event.t
(** The event that [t] is forced, by any task. It does not begin to compute [t],
    and so is never ready in the computation of [t] itself. Performing it raises
    [e] if the computation raised [e]. *)

val map : ('a -> 'b) -> 'a t -> 'b t
(** [map f t] is [from_fun (fun () -> f (force t))]: it computes nothing now. *)

val map_val : ('a -> 'b) -> 'a t -> 'b t
(** [map_val f t] is [from_val (f v)] if [t] is forced and its value is [v];
    else [map f t]. [f] runs now in the first case, and what it raises is
    raised. *)

val is_val : 'a t -> bool
(** Was [t] forced without raising? (Stdlib's is also true while [t] is being
    forced.) *)

val peek : 'a t -> ('a, exn) result option
(** [peek t] is [None] as long as [t] is not forced. *)

val waiters : 'a t -> int
(** How many tasks wait in {!force}, for tests and diagnosis. One that was
    cancelled counts until it is unwound. *)
