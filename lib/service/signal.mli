(** Signals of the system, as promises for tasks of any host.

    {b Stability}: stable.

    OCaml runs the handlers of [Sys.signal] in a thread running OCaml code. If
    all threads sleep, no handler runs, and a service doesn't notice that it
    should stop. The functions of this module work there too, and raise nothing
    in the program's code.

    {[
      # let stop = Signal.once [ Sys.sigterm; Sys.sigint ]
      val stop : int Promise.t = <abstr>
      # Unix.kill (Unix.getpid ()) Sys.sigterm;
        Promise.await stop = Sys.sigterm
      - : bool = true
    ]}

    A handler in C counts the signal and wakes a thread, which resolves the
    promise, and calls the functions of {!Promise.on_resolve}. (If they raise,
    the exception is printed, as at the end of a thread.) This thread exists
    while a promise or a watch of this module is pending. It blocks all signals,
    and does not keep the program from ending. Outside of the main domain, it is
    a domain.

    - {b Masks} are not changed. If all threads block a signal, it stays pending
      in the system, and no promise is resolved.
    - {b Other handlers}. If the program calls [Sys.signal],
      [Lwt_unix.on_signal] or the like for a signal caught here, the new handler
      replaces the one of this module. Then the promise stays pending, and the
      new handler stays when this module has finished.
    - {b Handlers from before} are not called while a signal is caught. Don't
      catch [SIGCHLD] if Eio or Lwt waits for child processes.
    - {b Fork}. A child process passes on all signals to the dispositions its
      parent had before. Promises of the parent are not resolved in the child,
      which can call these functions itself.
    - {b System calls} of the program are restarted when they sleep, if the
      system can do so. Others fail with [EINTR], as with every handler.
    - {b Signals} are given as in [Sys], or as the system's numbers. [SIGKILL]
      and [SIGSTOP] cannot be caught. [SIGSEGV], [SIGBUS], [SIGFPE] and [SIGILL]
      are for faults of the program, and are refused.

    No function of this module suspends the caller. You can call them in any
    thread or domain, but not in a signal handler.

    See also the pages on {{!/concord/lwt}Lwt} and
    {{!/concord/domainslib}Domainslib}. *)

val once : int list -> int Promise.t
(** [once signals] is a promise of the first of these signals to come. The
    number is that of [Sys] if the signal has one there.

    When a signal comes, its previous disposition is restored at once. A second
    [SIGTERM] ends a program that doesn't end by itself, even if the program is
    stuck in C code. The other signals of the list get their previous
    dispositions when the promise is resolved.

    {b To cancel}, resolve the promise. The signals then have their previous
    dispositions when that call returns. Another part of the program can
    therefore ask for the same end as a signal:

    {[
      # let stop = Signal.once [ Sys.sighup ] in
        Promise.try_fill stop Sys.sighup
      - : bool = true
    ]}

    If you drop the promise, the next signal is caught nevertheless.

    Several promises may wait for the same signal. All of them are filled when
    it comes. If several signals of the list come at the same time, the promise
    is filled with one of them.

    - {b Cost}: some system calls for each signal, and a thread if there is none
      yet. O(n) for the [n] pending promises.
    - {b Raises} [Invalid_argument] if the list is empty, or if the program
      cannot wait for one of the signals.
    - {b Raises} [Unix.Unix_error] or [Sys_error] if no descriptor or thread is
      left. Other promises of this module may then fail with the same exception.
    - {b Raises} [Failure] on Windows. *)

val with_watch : int -> (int Watch.t -> 'a) -> 'a
(** [with_watch signal f] calls [f count], where [count] is the number of such
    signals since the call.

    A task waiting for its next change misses none, although it may see several
    signals as one change. A service can read its configuration again at each
    [SIGHUP]:

    {[
      # Signal.with_watch Sys.sighup (fun hups ->
          let _, seen = Watch.read hups in
          Unix.kill (Unix.getpid ()) Sys.sighup;
          let count, _seen = Watch.changed hups ~since:seen in
          count)
      - : int = 1
    ]}

    Don't use a loop of {!once} instead, because the signal has its previous
    disposition between two calls. For [SIGHUP] this mostly ends the program.

    When [f] returns or raises, the signal gets its previous disposition, and
    the watch is closed.

    - {b Cost} and {b raises}: those of {!once}. *)
