(** Asynchronous input and output in direct style, for tasks of any library.

    {b Stability}: experimental, because its limits and settings follow what the
    systems offer. The functions with names of [Unix] and Stdlib keep their
    meaning.

    Stdlib's and [Unix]'s functions block the whole thread, with all of its
    tasks. After [open Concord_aio] the same code suspends the calling task
    only, whatever its host. The host may be [Concord_fifo], Eio, a pool,
    [Concord_styles], or a plain thread or domain.

    {[
      # open Concord_aio
      # let copy ic oc =
          let rec loop () =
            let l = input_line ic in
            output_string oc (l ^ "\n");
            loop ()
          in
          try loop () with
          | End_of_file -> close_in ic; close_out oc
          | e -> close_in ic; close_out oc; raise e
      val copy : Concord_aio.in_channel -> Concord_aio.out_channel -> unit = <fun>
      # run (fun () ->
          let from, to_ = Unix.pipe () in
          let writer =
            Concord_fifo.fork (fun () ->
                let oc = out_channel_of_descr to_ in
                output_string oc "hello\n";
                close_out oc)
          in
          copy (in_channel_of_descr from) (open_out "/dev/null");
          Concord_fifo.join writer)
      - : unit = ()
    ]}

    End of file and errors arrive as exceptions, as before, with a backtrace.
    Code that closes its files on any exception still does so, even if the task
    is cancelled.

    {{!/concord/aio}Asynchronous I/O} is a guide, with the reasons, the limits
    of the threads, and figures. See also the pages on
    {{!/concord/stdlib}Stdlib} and {{!/concord/picos}Picos}.

    {2 Rules for all operations}

    - {b Suspends}. An operation suspends the calling task until the descriptor
      is ready, if it isn't. Otherwise it doesn't suspend. But after 128 such
      operations in a domain the next one calls {!Concord.Tasks.yield} first, so
      even a task with constant input lets other tasks run.
    - {b Cancelled} while suspended, an operation raises the host's exception,
      and nothing was read or written, unless its documentation says so.
      However, if it is an operation on a regular file, it is completed first.
      (An Eio fiber without [concord-eio] blocks its thread until then.)
    - {b Order}. All tasks waiting for one descriptor are resumed when it is
      ready, in the order of their arrival, and try again. A channel has a lock,
      which serves tasks in the order of their arrival.
    - {b Signals}. If a signal interrupts an operation, the operation continues
      ([EINTR] is never raised). If its handler raises, the host decides where
      the exception is raised. If you write to a connection after the peer has
      closed it, the process gets [SIGPIPE], as always. Ignore the signal to get
      [EPIPE] instead.
    - {b Closing}. After {!close} no operation reads or writes another file with
      the same number.
    - {b Non-blocking}. Operations set [O_NONBLOCK] on a descriptor if the
      system can wait for it, at the latest when they wait, and leave it set.
      Other processes with the same file open share the flag. [read] and
      [write], and {!stdin}, {!stdout} and {!stderr}, don't set it on the
      descriptors 0, 1 and 2. Instead, they wait until the descriptor is ready.
      Then they block if another process, or another thread, was faster.
    - {b Cost}: the system call, if nothing has to wait. An operation on a
      descriptor needs two more system calls, which ask for the kind of the
      descriptor and whether it is non-blocking. [read] and [write] of a socket
      need them only to wait. A channel does this once. Waiting takes O(log n)
      for [n] descriptors with waiting tasks, and a system call if another
      thread polls.
    - {b Regular files}, disks, and other files the system can't wait for are
      opened, read and written at once, by [pread] and [pwrite] too, if their
      data is in memory, and Linux says so. Otherwise system threads do the
      work. They also perform {!getaddrinfo} and {!getnameinfo}.

    {2 Which thread polls}

    In {!run}, the loop of the tasks polls, and no other thread. For all other
    tasks one thread of the main domain polls. It starts at the first wait, or
    when the program spawns its first domain. It blocks all signals, and does
    not delay the end of the program. Two or three descriptors belong to it and
    to each [run].

    - {b Unix.close}. If a task waits for a descriptor, close the descriptor by
      {!close}. After [Unix.close] the task may wait forever.
    - {b Settings}. The environment variable [CONCORD_AIO] has words between
      commas. [poll] and [io_uring] choose how all of them wait. [domain] gives
      the thread a domain of its own. If a word is unknown, or the system
      doesn't support it, the first wait raises [Failure].
    - {b Fork}. In a child process the first wait starts a thread again, and a
      {!run} continuing there polls for itself. Tasks waiting for the parent's
      thread at the fork are not resumed in the child. *)

open Unix

val run : (unit -> 'a) -> 'a
(** [run f] is [Concord_fifo.run f], but its loop also polls for tasks waiting
    for descriptors.

    It polls when all tasks wait, and after every 64 turns while it is busy.
    Each of several domains may have a [run], which polls for its own tasks. At
    the end {!stdout} and {!stderr} are flushed.

    In a task of another scheduler, and in another [run], the loop can't poll
    without stopping the scheduler. It suspends its task instead, and the thread
    polls. The thread also polls for a scheduler inside a [run] task, if the
    scheduler is registered, for example with [Host_kit.using]. If it isn't, and
    it blocks the loop's thread, it waits forever for a descriptor.

    - {b Raises} [Unix.Unix_error] if no descriptor is left to wake the loop. *)

(** {1 Events} *)

val readable_evt : file_descr -> unit Concord.Event.t
(** [readable_evt fd] is ready while [fd] has something to read, is at its end,
    or has failed. It is chosen only if it is still readable when the resumed
    task runs.

    For example, this is a choice among a message, a descriptor and a timeout:
    [Event.select [ Mvar.take_evt box; readable_evt fd; Event.timeout 1. ]].

    - {b Suspends} until then.
    - {b Cancelled}, it has changed nothing.
    - {b Order}. All waiting tasks are resumed in the order of their arrival. If
      an earlier task has read everything, the next one continues to wait.
    - {b Cost}: O(log n) for [n] descriptors with waiting tasks, and two system
      calls. Cancelling costs the same, amortised.
    - {b Raises} [Unix.Unix_error] with [EBADF] if [fd] is not open, or is
      closed by {!close} meanwhile.
    - {b Raises} [Unix.Unix_error] with [EMFILE] or the like if the polling
      thread can't be started. *)

val writable_evt : file_descr -> unit Concord.Event.t
(** [writable_evt fd] is {!readable_evt}, for writing. *)

(** {1 Descriptors and sockets} *)

include module type of Descriptor
include module type of Connections
include module type of File_system

(** {1 Channels}

    These channels have other types than Stdlib's, but the same operations under
    the same names. If an operation fails, it raises [Sys_error] with the same
    text as Stdlib's channels. At the end of the input it raises [End_of_file].

    {b Differences from Stdlib's channels.}

    - A line may have at most 1 MiB, unless you call {!set_limit_in}. If one is
      longer, the operation raises [Sys_error].
    - If an input operation is cancelled, it has taken nothing from the channel.
      Even part of a line is still there. (A line, or the [n] bytes of
      {!really_input_string}, must therefore fit in memory twice.)
    - You may close a channel while other tasks use it. They get [Sys_error] at
      once, unless a thread is reading or writing a file for them.
    - Several channels of one descriptor share it, for example an [in_channel]
      and an [out_channel] of a socket. When the last of them is closed, the
      descriptor is closed, once.
    - {!close_out} closes the channel even if it cannot write the rest.
    - Data not written when the program ends is lost, except for the channels
      {!run} flushes.

    {b Not here.} Stdlib's [print_string] and the like, [Printf.printf] and
    [Format.printf] still write to Stdlib's own buffers, at once and in one
    order with each other. [flush_all] flushes those. Some of Stdlib's functions
    take a channel and have no namesake here. They are [Printf.fprintf] (use
    [sprintf] and {!output_string}), [Scanf.Scanning.from_channel],
    [Marshal.to_channel], [output_value] and [input_value] (send the length and
    [Marshal.to_string], to a peer you trust), [LargeFile], and the modules
    [In_channel] and [Out_channel]. The type checker rejects these channels
    there. *)

include module type of Input_channel
include module type of Output_channel

(** {1 Processes} *)

include module type of Process

(** {2 Standard input} *)

val read_line : unit -> string
(** [read_line ()] flushes {!stdout}, and Stdlib's, and then is
    [input_line stdin], like Stdlib's function. The limit of {!stdin} counts. *)

val read_int : unit -> int
(** [read_int ()] is {!read_line} as an integer, like Stdlib's function. *)

val read_int_opt : unit -> int option
(** [read_int_opt ()] is {!read_int}, but returns [None] if the line is no
    integer. *)

val read_float : unit -> float
(** [read_float ()] is {!read_line} as a float, like Stdlib's function. *)

val read_float_opt : unit -> float option
(** [read_float_opt ()] is {!read_float}, but returns [None] if the line is no
    float. *)
