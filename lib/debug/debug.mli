(** Reports on which task waits for which, for programs that hang, or are slow.

    {b Stability}: experimental, because a new kind of wait or report may change
    its types.

    Run your program with [CONCORD_DEBUG=sigquit]. When it hangs, type [Ctrl-\ ]
    in its terminal, or call [kill -QUIT] with its process. The program then
    writes a report to the standard error. The report lists the waiting tasks of
    all hosts. For each task it says where it waits, for how long, and which
    task holds the lock or box. {{!page-diagnosis}Five programs that hang} shows
    such reports.

    A program can also ask for the report itself. For example, this one lists
    the operations in which tasks wait, with the names of the structures:

    {[
      # let jobs : string Mailbox.t = Tools.Debug.named "jobs" (Mailbox.create ())
      val jobs : string Mailbox.t = <abstr>
      # Tools.Debug.keep_waits ()
      - : unit = ()
      # let worker = Thread.create Mailbox.take jobs in
        while Mailbox.waiters jobs = 0 do Thread.yield () done;
        let { Tools.Debug.waits; _ } = Tools.Debug.report () in
        Mailbox.add jobs "a job";
        Thread.join worker;
        List.concat_map (fun { Tools.Debug.targets; _ } ->
            List.map (fun { Tools.Debug.operation; structure; _ } -> (operation, structure)) targets)
          waits
      - : (string * string option) list = [("Mailbox.take", Some "jobs")]
    ]}

    No function of this module suspends. While waits are not kept, nothing here
    has a cost. While they are, each wait costs some microseconds, for its call
    stack. Operations that need not wait cost the same as before, except for
    structures that know their holders.

    Keeping waits doesn't keep structures alive, because the library points to
    them weakly. A domain clears these pointers before it ends, because
    otherwise OCaml's collector may crash, up to OCaml 5.4 (see
    {{!page-limits.ephemerons}Limits}).

    {2 The variable CONCORD_DEBUG}

    The variable has words between commas, which are read when the program
    starts. You don't need to call anything, and the program need not name this
    module. If a word is unknown, the program warns on the standard error.

    - [waits] calls {!keep_waits}.
    - [sigquit] calls {!dump_on_signal} of [Sys.sigquit], and implies [waits].
    - [sigusr2] calls {!Trace.on_signal} of [Sys.sigusr2], for
      [concord-trace --pid] to trace the process. Until it does, this costs
      nothing.
    - [sigquit=json:FILE] writes {!to_json} into the file instead, which each
      report replaces as a whole.
    - [stall=SECONDS] implies [waits], and makes the program write a report by
      itself in two cases, {{!stall}below}.
    - [slow=SECONDS] implies [waits], and reports tasks after they have waited
      for longer, even if other tasks continue. Each wait is reported once,
      there are at most two reports in this time, and the same operation at the
      same line is reported again after ten times as long. Waits for descriptors
      by [Concord_aio] are left out. A task waiting for its next job is reported
      too, so choose a time after which you would want to know.
    - [leaks] raises {!Suspend.Never_resumed} in tasks nothing can resume.
    - [strict] refuses a lock where no task can wait, {{!strict}below}.
    - [metrics] calls {!Metrics.start}. It doesn't imply [waits].
    - [trace] calls {!Trace.start} at the start of the program.

    {3:stall Stalls and cycles}

    With [stall=SECONDS] a new cycle is reported within a quarter of the time,
    and a second at most, however busy the other tasks are. With many thousands
    of waits the program checks less often, and the checks take 1 % of its time.

    A stall is reported if no wait began or ended for so long, although some
    task waits, or was woken. It is reported once, until a task continues. The
    report says whether anything is left that may wake these tasks, as far as
    this is known on Linux. While a thread waits outside the library
    ([Thread.join], a system call, Eio's loop), something may.

    If a task waits for a descriptor by [Concord_aio], the program is idle, and
    not stalled. However, the library can't see the waits of Eio's fibers or
    Lwt's promises in their own libraries. A server waiting in [Eio.Net.accept]
    and in one of Concord's structures is therefore reported when it is idle for
    so long.

    {3:strict Locks where no task can wait}

    With [strict] some operations check that the calling task can wait, even if
    they need not wait. They are {!Mutex.lock}, {!Mutex.protect}, the blocking
    operations of {!Rwlock}, {!Mvar.modify}, {!Lazy.force} of an unforced value,
    and the brackets of {!Semaphore} and {!Pool}. No task can wait in an Lwt
    callback ([Concord_lwt.In_callback]) or an Async job
    ([Concord_async.In_job]). A lock taken there is therefore refused in each
    test, and not only when another task happens to have the lock.

    For the check, a task is suspended for some microseconds if its scheduler
    doesn't handle this library's own effect. These are Eio, Lwt's own tasks,
    Domainslib, and others with an adapter. In a Domainslib pool on a busy
    machine it can be milliseconds. Other tasks may run meanwhile. In a
    cancelled Eio fiber of a program without [concord-eio], the check raises the
    cancellation. In other tasks and threads, the check doesn't suspend.

    Events of these operations, and operations waiting for something else, such
    as {!Mvar.take}, are refused only when they have to wait. Each [Concord_lwt]
    operation raises [Invalid_argument] in another scheduler's task, such as an
    Eio fiber, unless Lwt's loop runs there.

    {2 What else changes}

    While waits are kept, a program does the same as before, with these
    exceptions.

    - {!Mutex.lock} raises [Sys_error] if the task has locked the mutex before,
      where it would wait for itself. Other misuse is reported on the standard
      error, for example {!Mutex.unlock} by another task, or a holder that has
      ended.
    - [Printexc.to_string] of [Closed] and the like names the structure that
      raised it. It does so too if waits are not kept but the structure has a
      name.
    - [Suspend] is performed once more before a wait, because the host's answer
      gives the task's identity. It is also performed when a mutex, an rwlock, a
      lazy value, {!Mvar.modify}, or a bracket of a semaphore or a pool notes
      its holder, and while the program is traced. The host answers at once
      (H1). If a scheduler lets other tasks run even then, it does so there. If
      some scheduler takes every effect, no task is known.
    - Handlers around a task are asked each time. Lazy values forcing one
      another, n deep, therefore take time in the square of n.
    - With [leaks] a task doesn't wait for something that can't happen. While
      the program has nothing to do, a thread of the library's own collects
      garbage, for at most 2 % of the time, so it may take fifty times as long
      as a full collection until a lost task is found. While the program is
      busy, its own collections find lost tasks.

    @canonical Concord.Tools.Debug *)

val keep_waits : unit -> unit
(** [keep_waits ()] makes the library keep waits.

    From now on it notes tasks that begin to wait, and tasks that take a lock or
    a box. It also notes the names of structures, and where they are created. It
    doesn't know waits, holders and structures from before. *)

(** {2 Names} *)

val name : 'structure -> string -> unit
(** [name t text] gives the structure [t] the name [text] in reports. The last
    name counts.

    - {b Cost}: O(log n) amortised for [n] names, some microseconds. The memory
      of names before is freed. A report looks through all names.
    - {b Raises} [Invalid_argument] if the value is an integer or the like,
      because it can't be told from other values. *)

val named : string -> 'structure -> 'structure
(** [named text t] gives [t] the name [text], and returns [t].

    {[
      # let accounts = Tools.Debug.named "accounts" (Mutex.create ()) in
        Mutex.is_locked accounts
      - : bool = false
    ]}

    - {b Raises} [Invalid_argument] as {!val-name}. *)

val name_task : string -> unit
(** [name_task text] adds [text] to the name of the calling task, as in
    [fifo, task 12 "reader"], in reports and traces from now on.

    The last text counts. If the task's scheduler does not tell its tasks apart,
    nothing happens.

    - {b Cost}: some microseconds, and O(1) amortised. *)

(** {2 Reports} *)

type task = {
  id : int;
      (** A number no other task of the process has. The task has the same
          number in all reports and in the trace ({!Trace.task}). It is 0 if the
          task is not known, or has ended. *)
  host : string;  (** For example ["fifo"], or [""] for a system thread. *)
  name : string;
      (** For example ["task 12"] or ["thread 0"]. The tasks of two schedulers
          may have the same name. *)
}

type holder = {
  by : task;
  domain : int;  (** The domain of [by] when it took the structure. *)
  held_for : float;  (** In seconds. *)
  held_at : Printexc.raw_backtrace;
      (** Where the task took it. It is empty if this is not known. *)
}
(** A task able to end a wait, for example by unlocking a mutex. *)

type origin = {
  parent : task;  (** The forking task. *)
  forked_at : Printexc.raw_backtrace;
}

type target = {
  operation : string;
      (** For example ["Mvar.take"]. It is [""] if the operation has no name,
          for example because it belongs to another library. *)
  structure : string option;  (** Its name. *)
  state : string;
      (** The state of the structure, if it explains why the task waits. For
          example, a latch has ["2 to count down"]. Most structures have [""].
      *)
  made_at : Printexc.raw_backtrace option;
  holders : holder list;  (** The known holders. *)
}

type wait = {
  number : int;  (** Waits are numbered as they begin. *)
  task : task;
  domain : int;  (** The domain on which the wait began. *)
  origin : origin option;
      (** Where the task was forked, if this is known. With [parent.id] a
          program can rebuild the tree of tasks. It is known for these tasks, if
          they were forked while waits were kept:

          - tasks forked by {!Scope.fork} and the functions of {!Tasks} on any
            host;
          - tasks of {!Concord_fifo}, if their scheduler began while waits were
            kept;
          - jobs of [Concord_domainslib];
          - code in direct style;
          - the threads and domains of {!Promise.in_thread} and
            {!Promise.in_domain}. *)
  targets : target list;
      (** A choice has several targets. One of them is enough for the task to
          continue. *)
  waits_for : float;  (** In seconds. *)
  waits_at : Printexc.raw_backtrace;
}

type running = {
  task : task;
  on_domain : int;
  runs_for : float;  (** How long ago it began or was resumed, in seconds. *)
  waited_at : Printexc.raw_backtrace;
      (** Where it had waited until then, or where it was forked. *)
  has_waited : bool;  (** [false] if it has not waited since it began. *)
}

type queue = {
  queue : string;  (** Its name. *)
  kind : string;  (** ["stream"], ["mailbox"] or ["work queue"]. *)
  length : int;  (** The number of items. *)
  capacity : int option;  (** [None] if there is no limit. *)
}

type report = {
  cycles : wait list list;
      (** Deadlock cycles: tasks that can't continue. In each cycle, each task
          waits only for structures held by tasks that wait themselves. The next
          task of the cycle is among these holders, and the first task is among
          the holders of the last one. No task of the cycle continues unless one
          of these happens:

          - One of them is cancelled, for example by
            {!Concord.Tasks.with_timeout}, or signalled.
          - Another task does the work of a holder. For example, it unlocks a
            mutex for its holder, or fills the promise of a task that hasn't
            ended.

          Each of these tasks waited all the while. *)
  behind : wait list;
      (** Tasks waiting for tasks of cycles, or for one another of these. *)
  waits : wait list;
      (** All waits, including those above, in the order in which they began. If
          a scheduler has dropped a task, against H3, its wait stays here for
          good. *)
  woken : wait list;
      (** Tasks that were woken, but whose schedulers haven't continued them
          yet. [waits_for] says how long ago they were woken. If this is long,
          the code in the scheduler blocks, or computes. *)
  running : running list;
      (** For each thread, the task it began or resumed last, unless a task has
          begun to wait in the thread since. If a loop stands still, this task
          blocks it, or one that ran just before this task. At most 256 threads
          are remembered. *)
  queues : queue list;
      (** The queues that have a name and are not empty, the longest first. No
          task need wait in them. A {!Stream} is here only if it was created
          while waits were kept or measured ({!Metrics}), because its name comes
          later. *)
}

val report : unit -> report
(** [report ()] lists the waiting tasks.

    You can call it in any thread, in signal handlers, and while other tasks
    begin and end waits. If a task waits all the while, the report has it. The
    report doesn't have waits outside this library, such as [Domain.join],
    [Thread.join], [Eio.Promise.await] or a system call.

    - {b Cost}: O(n), for n waits, structures, and tasks of [Concord_fifo], and
      a minor collection. For 100,000 tasks it takes 2 s. *)

val to_string : report -> string
(** [to_string report] is the text for people. Cycles come first, then the other
    waits.

    {[
      # print_string (Tools.Debug.to_string { cycles = []; behind = []; waits = []; woken = []; running = []; queues = [] })
      concord: 0 tasks wait

      - : unit = ()
    ]}

    Waits differing only in the task and the time are shown as one, with the
    names of ten tasks. If more than ten others wait alike, but in structures
    with other names or other holders, they are shown as one too. For each
    structure, ten holders are shown. Frames are those of the program, without
    the frames of this library and of the schedulers. *)

val to_json : report -> string
(** [to_json report] is the report for programs, in UTF-8.

    It is an object with the fields of {!type-report}. [cycles] and [behind]
    have the numbers of the waits, and [waits] and [woken] have the waits
    themselves. Times are in seconds, in the field [seconds].

    Each different call stack is in [stacks] once, and other fields refer to it
    by its position there. A call stack is a list of objects, the innermost
    first. Each has the fields [function], [file] and [line], and in [program]
    whether {!to_string} shows the frame. *)

val dump : out_channel -> unit
(** [dump channel] writes {!to_string} of the {!val-report} to [channel], and
    flushes it. *)

val dump_on_signal : int -> unit
(** [dump_on_signal signal], for example of [Sys.sigusr1], makes the process
    write a report whenever it is sent the signal.

    It writes {!to_string} of the {!val-report} to the standard error. This
    works even if all threads wait, when OCaml would call no signal handler. It
    calls {!keep_waits}. The report can be delayed only by a C function holding
    OCaml's lock, or a domain that reaches no polling point.

    {b Call it first, in the main thread}, because a thread of the library's own
    waits for the signal. All other threads have to block the signal, to keep it
    from coming to them. From now on the calling thread blocks it, and so do the
    threads and domains it starts. (If you call it in another domain than the
    first, it spawns a domain for this thread, because a thread would keep the
    caller's domain from ending.)

    If the program has a handler for the signal, it is not called any more. If a
    thread unblocks the signal, it may get it instead. A program started or
    forked by this one may block the signal too. The child of a fork reports
    nothing.

    - {b Raises} [Invalid_argument] if another thread does not block the signal.
      (This is noticed on Linux only, and not for a thread that hasn't begun.)
    - {b Raises} [Invalid_argument] if there is no such signal, if it cannot be
      blocked ([SIGKILL], [SIGSTOP]), or if the system has no such signals
      (Windows). *)
