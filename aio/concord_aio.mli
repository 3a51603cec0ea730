(** Asynchronous input and output in direct style, for tasks of any library.

    {b Stability}: experimental, may change in any release.

    After [open Concord_aio] code that reads and writes channels, descriptors
    and sockets under the names of Stdlib and [Unix] suspends the calling task
    only, whatever its host: of [Concord_fifo], of Eio, of a pool, a thread, a
    domain, a thread of [Concord_styles]. End of file and errors arrive as
    exceptions, as before, with a backtrace; so code that closes what it opened
    on any exception goes on doing so, also when the task is cancelled.

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

    {2 What holds for all operations}

    - {b Suspends}: an operation that must wait suspends the calling task, until
      the descriptor is ready. One that need not wait does not suspend, but
      after 128 of these in a domain the next one is {!Concord.Tasks.yield}
      first, so that a task which always has something to read lets the others
      run.
    - {b Cancelled} while suspended: the host's exception is raised, and nothing
      was read or written, unless it says otherwise below. Not so for regular
      files, of which the operation in progress is completed first.
    - {b Order}: those that wait for one descriptor are all resumed when it is
      ready, in the order of their arrival, and try again. A channel has a lock,
      which serves them in the order of their arrival.
    - {b Signals}: an operation that a signal interrupts goes on ([EINTR] is
      never raised). What its handler raises is raised as the host says. A peer
      that is gone sends the process [SIGPIPE] when it is written to, as ever:
      ignore that signal to get [EPIPE].
    - {b Closing}: after {!close} no operation reads or writes another file that
      has got the number since.
    - {b Non-blocking}: operations on a descriptor that the system can wait for
      set [O_NONBLOCK], and leave it. The flag is shared with the other
      processes that have the same file open. The descriptors 0, 1 and 2 are
      spared by [read] and [write], and by {!stdin}, {!stdout} and {!stderr}:
      they wait until the descriptor is ready and then block, should another
      process have been faster.
    - {b Cost}: that of the system call, while nothing must wait. On a
      descriptor each operation needs two more, which ask what it is and whether
      it is non-blocking. A channel does this once. To wait is O(log n) for [n]
      that are waited for, and a system call if another thread polls.
    - {b Regular files}, disks, and what else the system cannot wait for: what
      is in memory is opened, read and written at once, where Linux says so. All
      else is done by system threads, and so are {!getaddrinfo} and
      {!getnameinfo}.

    {2 Who polls}

    In {!run}, the loop that runs the tasks, and no other thread. For all other
    tasks one thread of the main domain, which is started by the first wait or
    when the program spawns its first domain, blocks all signals, and does not
    delay the end of the program. Two or three descriptors belong to it and to
    each [run].

    {b Unix.close}: use {!close} for a descriptor for which a task waits. After
    [Unix.close] the task may wait forever.

    {b Settings}: the environment variable [CONCORD_AIO] has words between
    commas: [poll] or [io_uring], by which all of them wait, and [domain], which
    gives the thread a domain of its own. If a word is unknown, or the system
    lacks what it asks for, the first wait raises [Failure].

    {b Fork}: in a child process a thread is started again by the first wait; a
    {!run} that goes on there polls for itself. What waited for the parent's
    thread when it forked is not resumed in the child.

    {{!/concord/aio}Asynchronous I/O} has the reasons, the limits of the
    threads, and figures. *)

open Unix

val run : (unit -> 'a) -> 'a
(** [run f] is [Concord_fifo.run f], whose tasks wait for descriptors in the
    loop: it polls when all of them wait, and while it is busy after every 64
    turns. Several domains may have a [run] each; each polls for its own tasks.
    At the end {!stdout} and {!stderr} are flushed.

    In a task of another scheduler, and in another [run], the loop cannot poll
    without stopping that scheduler: then it suspends its task, and the thread
    polls. So it does for a scheduler that runs in a task of [run], if that is
    registered, as [Host_kit.using] does it; one that is not, and that blocks
    the thread of the loop, waits for ever for a descriptor.

    Otherwise as [Concord_fifo.run].

    - {b Raises} [Unix.Unix_error] if no descriptor is left for the loop to be
      woken by. *)

(** {1 Events} *)

val readable_evt : file_descr -> unit Concord.Event.t
(** [readable_evt fd] is ready while [fd] has something to read, is at its end,
    or has failed. A choice among a message, a descriptor and a timeout is
    [Event.select [ Mvar.take_evt box; readable_evt fd; Event.timeout 1. ]].

    - {b Suspends} until then. {b Cancelled}: nothing has happened.
    - {b Order}: all that wait are resumed. {b Cost}: O(log n) for [n]
      descriptors that are waited for, and a system call; to withdraw is the
      same, amortised.
    - {b Raises} [Unix.Unix_error] with [EBADF] if [fd] is not open, or is
      closed by {!close} meanwhile; with [EMFILE] or the like if the thread that
      polls cannot be started. *)

val writable_evt : file_descr -> unit Concord.Event.t
(** As {!readable_evt}, for a descriptor that can be written to. *)

(** {1 Descriptors and sockets} *)

include module type of Descriptor

(** {1 Channels}

    They are other types than Stdlib's, with the same operations under the same
    names. What fails raises [Sys_error] with the text that Stdlib's channels
    give, and the end of the input raises [End_of_file].

    {b Differences.} An input operation that is cancelled has taken nothing from
    the channel: a line of which a part has come is still there. (So a line, or
    the [n] bytes of {!really_input_string}, must fit in memory twice.) A
    channel may be closed while other tasks use it: these get [Sys_error].
    Channels of one descriptor, an [in_channel] and an [out_channel] of a socket
    say, share it: the last one that is closed closes it, once. {!close_out}
    closes the channel also if it cannot write the rest. What is not written
    when the program ends is lost, but for what {!run} flushes.

    {b Not here.} Stdlib's [print_string] and the like, [Printf.printf] and
    [Format.printf] go on writing to Stdlib's own buffers, at once and in one
    order with each other; [flush_all] flushes those. Stdlib's functions that
    take a channel and have no namesake here refuse these channels, by their
    types: [Printf.fprintf] (use [sprintf] and {!output_string}),
    [Scanf.Scanning.from_channel], [Marshal.to_channel], [LargeFile], and the
    modules [In_channel] and [Out_channel]. *)

include module type of Input_channel
include module type of Output_channel

(** {2 Standard input} *)

val read_line : unit -> string
(** As Stdlib's: flushes {!stdout}, and Stdlib's, and then is
    [input_line stdin]. *)

val read_int : unit -> int
val read_int_opt : unit -> int option
val read_float : unit -> float
val read_float_opt : unit -> float option
