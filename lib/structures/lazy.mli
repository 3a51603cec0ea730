(** A value computed once, when a task first needs it.

    {b Stability}: stable.

    Stdlib's lazy values raise if two tasks force them at once. Here the first
    task runs the computation, and the other tasks wait for it. The module has
    all functions of Stdlib's [Lazy], with the same meaning.

    {[
      # let answer = Lazy.from_fun (fun () -> print_string "once "; 42)
      val answer : int Concord.Lazy.t = <abstr>
      # let ask () = Printf.printf "%d " (Lazy.force answer)
      val ask : unit -> unit = <fun>
      # List.iter Thread.join [ Thread.create ask (); Thread.create ask () ]
      once 42 42
      - : unit = ()
    ]}

    The keyword [lazy] creates Stdlib's lazy values. Use {!from_fun} instead, or
    [[%lazy e]] with [ppx_concord]. To use the keyword and its patterns, write
    [[@@@concord.lazy]] at the head of a file, also with [ppx_concord]. If other
    code gives you a Stdlib lazy value, use {!of_stdlib}.

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    Lazy values are described in section 6 of "Effectively Composing Concurrency
    Libraries". See also the pages on {{!/concord/stdlib}Stdlib} and
    {{!/concord/eio}Eio}. *)

type 'a t
(** A lazy value of type ['a]. *)

exception Undefined
(** Stdlib's [Lazy.Undefined]. It is raised if a value is needed to compute
    itself ({!section-cycles}). *)

(** {1 Creating} *)

type cancel =
  [ `Restart
    (** The next task to need the value runs the computation again. It is the
        task that has waited longest, or the next one to come. This holds for
        any exception the computation raises in a cancelled task. *)
  | `Record
    (** The exception is remembered as any other, and raised again for all
        tasks. *)
  | `Protect
    (** The cancellation is not delivered during the computation, if the host
        can defer it (see {!Concord.Tasks.protect}). *) ]
(** This type says what happens if the computing task is cancelled. *)

val from_fun : ?cancel:cancel -> (unit -> 'a) -> 'a t
(** [from_fun f] returns a lazy value computed by [f ()]. By default, [cancel]
    is [`Restart]. *)

val from_val : 'a -> 'a t
(** [from_val v] returns a value forced from the start. *)

val of_stdlib : 'a Stdlib.Lazy.t -> 'a t
(** [of_stdlib l] returns a value computed by forcing [l] once.

    It is computed as with [`Protect], because [l] itself remembers any
    exception, even a cancellation. You may call [of_stdlib] several times with
    the same [l]. While one of these values is being forced, tasks forcing
    another one wait for the first.

    If other code forces [l] directly at the same time, in another task or
    domain, the second one gets an exception. {!force} raises {!Being_forced},
    and Stdlib's [Lazy.force] raises {!Undefined}. *)

exception Being_forced
(** {!force} raises it for a value of {!of_stdlib} if code without {!of_stdlib}
    is forcing Stdlib's lazy value.

    This code may run in another task or domain, or further down on the caller's
    own stack. These cases can't be told apart, and nothing would resume the
    caller afterwards. For this reason, [force] doesn't wait. The exception
    isn't remembered, and the next {!force} tries again. *)

val map : ('a -> 'b) -> 'a t -> 'b t
(** [map f t] is [from_fun (fun () -> f (force t))], so it computes nothing yet.
*)

val map_val : ('a -> 'b) -> 'a t -> 'b t
(** [map_val f t] is [from_val (f v)] if [t] is already forced and has the value
    [v], and [map f t] otherwise. In the first case, [f] is called now, and its
    exceptions are raised now. *)

(** {1 Forcing} *)

val force : 'a t -> 'a
(** [force t] returns the value of [t].

    If no task has computed the value or is computing it, the calling task
    computes it. Waiting tasks are resumed in the order in which they arrived,
    and then the events in theirs.

    - {b Suspends} while another task computes the value, and where the
      computation does.
    - {b Cost}: two reads if [t] is forced, and O(1) to wait. Cancelling a wait
      takes amortised O(1) time. If a task is itself forcing [n] lazy values, it
      needs O(n) time more for each wait, and for each of its computations that
      raises. If [m] tasks wait for one another in a row, each wait also takes
      O(m) time.
    - {b Raises} [e] if the computation raised [e], with the backtrace of the
      place where it was raised.
    - {b Raises} {!Undefined} if the value is needed to compute itself.

    Forcing a long chain takes O(n{^ 2}) time for [n] values, if the computation
    of each value forces the next one. {{!/concord/limits}Limits} has figures.
    Force such a chain from its end. *)

val force_val : 'a t -> 'a
(** [force_val] is another name for {!force}, as in Stdlib. *)

val await_evt : 'a t -> 'a Event.t
(** [await_evt t] is ready once [t] was forced, by any task, with the value of
    [t].

    It doesn't start the computation of [t]. It is therefore never ready inside
    the computation of [t] itself. Performing it raises [e] if the computation
    raised [e]. *)

(** {1 Inspecting} *)

val is_val : 'a t -> bool
(** [is_val t] is [true] if [t] was forced and didn't raise. (Stdlib's is also
    [true] while [t] is being forced.) *)

val peek : 'a t -> ('a, exn) result option
(** [peek t] returns the outcome of [t], or [None] if [t] isn't forced yet. *)

val waiters : 'a t -> int
(** [waiters t] is the number of tasks waiting in {!force} or for
    {!val-await_evt}, for tests and diagnosis. *)

(** {1 Guarantees}

    - {b Once}. If a computation returned or raised, it never runs again, and
      its closure can be garbage-collected. An exception is raised again in
      every task forcing the value.
    - {b Cancellation}. If the computing task is cancelled, the next task runs
      the computation again (see {!type-cancel}). The same holds if the
      computation had to wait where its host can't suspend, even if it then
      raised another exception. It does so in a plain Lwt callback and in an
      Async job ({!Concord.Tools.Host_kit.refuse}).

    While waits are kept ({!Concord.Tools.Debug.keep_waits}), a report says
    which task forces a value others wait for, if it began after waits were
    kept. If the computation will run again, the report gives its last
    exception, for example [failed before: Exit]. You name a value by
    {!Concord.Tools.Debug.val-name}, because {!from_val} and the others have
    Stdlib's signatures.

    {1:cycles Cycles}

    {!force} raises {!Undefined} if the calling task itself is already forcing
    the value, directly or through other lazy values. This also works across
    several tasks. If each of them forces a value another one is computing, at
    least one of them gets the exception. (A cancelled task counts until it is
    unwound.) [force] never raises {!Undefined} merely because another task is
    forcing the value.

    But these cycles aren't detected, and wait forever:

    - a computation that joins a task, or runs a scheduler, in which the same
      value is forced.
    - a callback from C, such as a finaliser, which runs on top of the
      computation and forces the value.
    - a computation in a suspended generator of the calling task. *)
