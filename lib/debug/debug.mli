(** Who waits for whom: for programs that hang, or are slow.

    {b Stability}: experimental, may change in any release.

    Run the program with [CONCORD_DEBUG=sigquit] and, when it hangs, type
    [Ctrl-\ ] in its terminal, or call [kill -QUIT] with its process: it writes
    to the standard error which tasks wait, of whatever host, where, for how
    long, and who holds what they wait for.
    {{!page-diagnosis}Five programs that hang} shows what that looks like.

    Nothing here suspends. While waits are not kept none of it costs anything:
    operations look at nothing that they do not look at anyway. While they are,
    each wait costs some microseconds, for its call stack. Operations that need
    not wait cost the same, but for those of structures that know their holders.

    What is kept does not keep structures alive: it points to them weakly. Up to
    OCaml 5.4 at least, a program in which domains end, and that has many such
    pointers, may crash or hang in the collector (OCaml's issue 14349). So let
    domains live as long as the program, as those of a pool, while waits are
    kept.

    {2 What else changes}

    A program does the same as without, but for the following.

    - {!Mutex.lock} raises [Sys_error] if the task has locked the mutex before,
      where it would wait for itself. Other misuse is told on the standard
      error: {!Mutex.unlock} by another task, a holder that has ended.
    - [Printexc.to_string] of [Closed] and the like tells which structure raised
      it, while a structure has a name, or waits are kept.
    - While waits are kept, and while the program is traced, [Suspend] is
      performed once more before a wait, or when a mutex, an rwlock, a lazy
      value or {!Mvar.modify} notes its holder: the host answers at once (H1),
      and the task's identity is known by it. A scheduler that lets others run
      even then does so there. Where some scheduler takes every effect, no task
      is known.
    - Handlers around a task are asked each time: lazy values that force one
      another, n deep, take time in the square of n.
    - What a signal handler raises when a wait has just ended, and that is told
      to who traces the program, comes in the thread's next wait.
    - With [leaks] a task that waits for what nobody can bring about is not left
      to wait; and each sleep is preceded by a collection.

    {2 The variable CONCORD_DEBUG}

    Words between commas, read when the program starts. Nothing needs to be
    called, and the program need not name this module. What is no such word is
    told on the standard error.

    - [waits]: as {!keep_waits}.
    - [sigquit]: as {!dump_on_signal} of [Sys.sigquit], and [waits].
    - [sigusr2]: as {!Trace.on_signal} of [Sys.sigusr2], so that
      [concord-trace --pid] can trace the process. Until it does, this costs
      nothing.
    - [stall=SECONDS]: as [waits]; and the program writes a report by itself in
      two cases. A new cycle is reported within a quarter of that time, and a
      second at most, however busy the other tasks are; with many thousands of
      waits the program looks less often, so that this takes 1 % of its time.
      And a stall is reported when no wait began or ended for so long, although
      some task waits, or was woken; once, until a task continues. The report
      says whether anything is left that may wake these tasks, as far as that is
      known on Linux. While a thread waits outside of the library
      ([Thread.join], a system call, Eio's loop), it may. A program in which a
      task waits for a descriptor by [Concord_aio] is idle, and not stalled. But
      the library can't see what a fiber of Eio or a promise of Lwt waits for in
      its own library, so a server that waits in [Eio.Net.accept] and in one of
      our structures is reported when it is idle for so long.
    - [leaks]: tasks that nobody can resume any more are told so
      ({!Suspend.Never_resumed}).
    - [strict]: as [waits]; and {!Mutex.lock}, {!Mutex.protect}, the operations
      of {!Rwlock} that wait, {!Mvar.modify} and {!Lazy.force} of what is not
      forced suspend the calling task for a moment even if they need not wait.
      So a lock that is taken where no task can wait, in a callback of Lwt
      ([Concord_lwt.In_callback]) or a job of Async ([Concord_async.In_job]), is
      refused in each test, and not only when another task happens to have the
      lock. Events of these operations, and operations that wait for something
      else, such as {!Mvar.take}, are refused only when they have to wait. Each
      operation of [Concord_lwt] raises [Invalid_argument] in a task of another
      scheduler, such as a fiber of Eio, unless Lwt's loop runs there.
    - [trace]: as {!Trace.start}, from the start of the program.

    @canonical Concord.Tools.Debug *)

val keep_waits : unit -> unit
(** From now on the library notes the tasks that begin to wait, the tasks that
    take a lock or a box, and the makers and the names of structures that are
    created. Waits, holders and makers from before are unknown. *)

(** {2 Names} *)

val name : 'structure -> string -> unit
(** [name t text]: reports call [t] so. The last name counts.
    - {b Cost}: O(1) amortised; a report looks through all names.
    - {b Raises} [Invalid_argument] if the value is an integer or the like,
      which nothing tells from others. *)

val named : string -> 'structure -> 'structure
(** [named text t] is [t], which was given the name.

    {[
      # let accounts = Tools.Debug.named "accounts" (Mutex.create ()) in
        Mutex.is_locked accounts
      - : bool = false
    ]}

    - {b Raises} [Invalid_argument] as {!val-name}. *)

val name_task : string -> unit
(** [name_task text]: from now on reports and traces have [text] behind the name
    of the calling task, as in [fifo, task 12 "reader"]. The last one counts. If
    the task's scheduler does not tell its tasks apart, nothing happens.
    - {b Cost}: some microseconds; O(1) amortised. *)

(** {2 Reports} *)

type task = {
  id : int;
      (** No other task of the process has it, and the task has the same in all
          reports and in the trace ({!Trace.task}). 0 if the task is not known,
          or has ended. *)
  host : string;  (** As ["fifo"]; [""] for a system thread. *)
  name : string;
      (** As ["task 12"], ["thread 0"]. The tasks of two schedulers may have the
          same name. *)
}

type holder = {
  by : task;
  domain : int;  (** Where [by] was when it took it. *)
  held_for : float;  (** In seconds. *)
  held_at : Printexc.raw_backtrace;
      (** Where the task took it; empty if that is not known. *)
}
(** Who can end a wait, as by unlocking a mutex. *)

type origin = {
  parent : task;  (** The task that forked it. *)
  forked_at : Printexc.raw_backtrace;
}

type target = {
  operation : string;
      (** As ["Mvar.take"]; [""] if the operation has no name, as one of another
          library. *)
  structure : string option;  (** Its name. *)
  state : string;
      (** What it has, where that says why the task waits: as
          ["2 to count down"] of a latch; [""] of most. *)
  made_at : Printexc.raw_backtrace option;
  holders : holder list;  (** Those that are known. *)
}

type wait = {
  number : int;  (** Waits are numbered as they begin. *)
  task : task;
  domain : int;  (** On which the wait began. *)
  origin : origin option;
      (** Where the task was forked, if that is known: of tasks that
          {!Scope.fork} and the functions of {!Tasks} fork on any host, tasks of
          {!Concord_fifo}, jobs of [Concord_domainslib], code in direct style,
          and the threads and domains of {!Promise.in_thread} and
          {!Promise.in_domain}. Each only if it was forked while waits were kept
          (in {!Concord_fifo}, in a scheduler that began then). With [parent.id]
          a program can rebuild the tree of tasks. *)
  targets : target list;
      (** Several for a choice: one is enough for the task to go on. *)
  waits_for : float;  (** In seconds. *)
  waits_at : Printexc.raw_backtrace;
}

type running = {
  task : task;
  on_domain : int;
  runs_for : float;  (** How long ago it was resumed, in seconds. *)
  waited_at : Printexc.raw_backtrace;  (** Where it had waited until then. *)
}

type report = {
  cycles : wait list list;
      (** In each of these, each task waits only for what others hold that wait
          themselves, among them the next one, the last one for the first one:
          none goes on, unless one is cancelled, as by
          {!Concord.Tasks.with_timeout}, or signalled, or another task does what
          is theirs to do: unlocks a mutex for its holder, fills the promise of
          a task that has not ended. Each of these tasks waited all the while.
      *)
  behind : wait list;
      (** Those that wait for tasks of cycles, or for one another of these. *)
  waits : wait list;
      (** All, also those above, in the order in which they began. A task that
          its scheduler has dropped, against H3, stays here for good. *)
  woken : wait list;
      (** Those that were woken, and that their schedulers have not let go on.
          [waits_for] says how long ago that was: if it is long, what runs in
          the scheduler blocks, or computes. *)
  running : running list;
      (** The task that each thread resumed last, unless a task has begun to
          wait in that thread since. If a loop stands still, this is the task
          that blocks it, or one that ran just before that task. At most 256
          threads are remembered. *)
}

val report : unit -> report
(** Who waits now. It may be called in any thread, in signal handlers, and while
    others begin and end waits: a task that waits all the while is in it. What
    is no wait of this library is not: [Domain.join], [Thread.join],
    [Eio.Promise.await], a system call.
    - {b Cost}: O(n), for n waits, structures, and tasks of [Concord_fifo], and
      a minor collection: 2 s for 100,000 tasks. *)

val to_string : report -> string
(** For people: cycles first; then the other waits, and as one those that have
    all but the task and the time in common. If these are still more than ten
    that wait alike, but in structures with other names, or with other holders,
    they are one too. Of the holders of one structure ten are shown. Frames are
    those of the program, without this library's and the schedulers'.

    {[
      # print_string (Tools.Debug.to_string { cycles = []; behind = []; waits = []; woken = []; running = [] })
      concord: 0 tasks wait

      - : unit = ()
    ]} *)

val to_json : report -> string
(** For programs, in UTF-8: an object with the fields of {!type-report}.
    [cycles] and [behind] have the numbers of the waits, [waits] and [woken] the
    waits. Times are in seconds, in the field [seconds]. Each different call
    stack is in [stacks] once, and elsewhere its position there. A call stack is
    a list of objects, the innermost first, with [function], [file], [line], and
    in [program] whether {!to_string} shows the frame. *)

val dump : out_channel -> unit
(** [dump channel] writes {!to_string} of the {!val-report} there, and flushes
    it. *)

val dump_on_signal : int -> unit
(** [dump_on_signal signal] (as [Sys.sigusr1]): from now on the process writes
    {!to_string} of the {!val-report} to the standard error whenever it is sent
    the signal, also while all threads wait, in which OCaml would call no signal
    handler. It calls {!keep_waits}. Only a function in C that keeps OCaml's
    lock, or a domain that reaches no polling point, can put the report off.

    A thread of the library's own waits for the signal, which all others have to
    block, lest it comes to them: the calling thread does so from now on, and
    with it the threads and domains that it starts. So call it first, in the
    main thread. (Called in another domain than the first it spawns one for that
    thread, as a thread would keep the caller's from ending.) A handler that the
    program has for the signal is not called any more; a thread that unblocks
    the signal may get it instead. A program that is started by this one, or
    forked, may block the signal too; the child of a fork reports nothing.

    - {b Raises} [Invalid_argument] if another thread does not block the signal
      (which is noticed on Linux only, and not of one that has not begun), if
      there is no such signal or it cannot be blocked ([SIGKILL], [SIGSTOP]), or
      if the system has no such signals (Windows). *)
