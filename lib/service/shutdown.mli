(** An orderly end of a service. It closes in order, waits a while, then
    cancels.

    {b Stability}: stable.

    A service's main function runs until another task closes the structures it
    reads from. For a graceful shutdown, {!run} closes them when a promise is
    resolved, for example the promise of a signal ({!Signal.once}), and bounds
    the time the rest may take.

    {[
      # let jobs = Mailbox.create ()
      val jobs : '_weak1 Mailbox.t = <abstr>
      # let work () = Mailbox.iter (fun job -> print_endline job) jobs
      val work : unit -> unit = <fun>
      # Mailbox.add jobs "a job in the queue"
      - : unit = ()
      # let stop = Signal.once [ Sys.sigterm ] in
        Unix.kill (Unix.getpid ()) Sys.sigterm;
        let close = [ (fun () -> Mailbox.close jobs) ] in
        let ended = Shutdown.run ~close ~stop ~grace:10. work in
        if ended.cut_short then "cut short" else "drained"
      a job in the queue
      - : string = "drained"
    ]}

    See also the page on {{!/concord/lwt}Lwt}. *)

type 'a ended = {
  value : 'a option;
      (** The result of the main function. It is [None] if the main function was
          cancelled because the time was over. *)
  cut_short : bool;
      (** [true] if the time was over before the main function and all functions
          of [close] had ended. *)
  failures : (exn * Printexc.raw_backtrace) list;
      (** The exceptions of the functions of [close], in their order. *)
}

val run :
  ?close:(unit -> unit) list ->
  stop:'stop Promise.t ->
  grace:float ->
  (unit -> 'a) ->
  'a ended
(** [run ~close ~stop ~grace main] runs [main ()], and ends it in order when
    [stop] is resolved.

    [main] runs in a task of a {!Scope}. When [stop] is resolved or [main] has
    ended, it calls the functions of [close] one after the other, in the calling
    task. It returns when they and [main] have ended. If one of them has not
    ended after [grace] seconds, it is cancelled. The time begins when [stop] is
    resolved or [main] has ended.

    Each function of [close] is called once in any case. If one raises, the
    others are called nevertheless. When the time is over, the waiting function
    is cancelled. The functions after it are still called, and are cancelled
    where they wait. Put functions that need not wait, such as {!Stream.close},
    first.

    If [main] or a function of [close] can't be cancelled (see {!Tasks}), or is
    in {!Tasks.protect}, [run] waits longer than [grace].

    - {b Suspends} until all have ended.
    - {b Cancelled}, it cancels [main]. The remaining functions of [close] are
      called, and are cancelled where they wait. Then the host's exception is
      raised. If the calling task was cancelled before, [main] may not be called
      at all, but the functions of [close] are.
    - {b Order}. [main] begins first.
    - {b Cost}: a {!Scope.run}, a task, and a {!Tasks.with_timeout}.
    - {b Raises} the exception of [main], unless [main] was cancelled because
      the time was over. It is raised after the functions of [close] have been
      called, and their exceptions are lost then.
    - {b Raises} [Invalid_argument] if [grace] is negative or not a number. It
      may be [0.], which cancels every waiting task, or [infinity], which
      cancels nothing. *)
