(** What tasks do, as events of OCaml's runtime, which another process can read
    while the program runs: who waits, in which operation, and who wakes it.

    {b Stability}: experimental, may change in any release.

    The command [concord-trace] of the package of that name shows them, and
    draws a timeline: {{!page-trace}that page} shows how to read them. Here is
    how a program does so itself.

    A program is traced from its start if [trace] is one of the words in the
    environment variable [CONCORD_DEBUG], or from {!start} on. While it is not,
    nothing is emitted, and an operation costs what it costs without this
    module. While it is, each wait costs some microseconds.

    The events are custom ones of [Runtime_events] ([User]), all named
    ["concord"]: they lie in the rings of the runtime, one for each domain, and
    the oldest are lost when nobody reads for long. [OCAMLRUNPARAM=e=18] makes
    the rings larger, [OCAML_RUNTIME_EVENTS_DIR] names the folder of their file.
    The [lost_events] of a reader is told how many words it lost.

    {b Signals}: what a handler raises while a wait is told comes where the
    operation is called, which then has not been performed. If it has been, as
    the wait has just ended, the thread's next wait raises the exception.

    None of these functions suspends. All are safe from any domain and thread.

    {[
      # let seen = Queue.create ()
      val seen : '_weak1 Queue.t = <abstr>
      # let callbacks =
          Tools.Trace.add_to
            (Runtime_events.Callbacks.create ())
            (fun _ring _time event -> Queue.add event seen)
      val callbacks : Runtime_events.Callbacks.t = <abstr>
      # Tools.Trace.start ()
      - : unit = ()
      # let cursor = Runtime_events.create_cursor None
      val cursor : Runtime_events.cursor = <abstr>
      # Concord_fifo.run (fun () ->
            let mvar = Mvar.create_empty () in
            let task = Concord_fifo.fork (fun () -> Mvar.take mvar) in
            Mvar.put mvar ();
            Concord_fifo.join task)
      - : unit = ()
      # Tools.Trace.stop ()
      - : unit = ()
      # let _ : int = Runtime_events.read_poll cursor callbacks None in
        Queue.to_seq seen
        |> Seq.filter_map (function
             | Tools.Trace.Suspended { operation; _ } -> Some operation
             | Woken _ -> Some "woken"
             | Resumed _ -> Some "resumed"
             | _ -> None)
        |> List.of_seq
      - : string list =
      ["Mvar.take"; "woken"; "Promise.await"; "resumed"; "woken"; "resumed"]
    ]}

    @canonical Concord.Tools.Trace *)

type task = {
  id : int;
      (** Another one for each task, and the same in all its events; a task that
          its host does not tell from others has a new one for each wait. *)
  host : string;  (** As ["eio"]; [""] for a system thread. *)
  name : string;
      (** As ["task 12"], and as {!Concord.Tools.Debug} calls it; ["a task"] if
          its host does not tell it from others. ["an operation"] of promises,
          or of a monadic style, is no task: it waits by itself, and what called
          it has returned. *)
}

type outcome =
  | Returned
  | Raised  (** The waker gave an exception, or the operation raised it. *)
  | Cancelled
      (** The host raised, as it has cancelled the task, or a signal handler
          did. *)

(** Domains are numbered as by [Domain.self]. *)
type event =
  | Began of { program : string }  (** From here on, the program is traced. *)
  | Suspended of {
      wait : int;  (** Its number: the next two have the same. *)
      task : task;
      domain : int;
      operation : string;
          (** As ["Mvar.take"], or several between commas; [""] if it is not an
              operation of the library. *)
      structure : string;
          (** The structure's name, or several between commas; [""] if it has
              none. *)
      at : string;
          (** The line of the program, as ["server.ml:12"]; [""] if it was
              compiled without [-g]. *)
    }
  | Woken of {
      wait : int;
      by : task;
          (** Who called the resumer, of the nearest host that tells its tasks
              apart: a scheduler that does not, in a task of one that does, is
              in that task. A timeout is a thread, and so is what the operating
              system brings. *)
      domain : int;  (** The waker's. *)
      suspended_on : int;
          (** The domain on which the task suspended; if it is another one, the
              task was handed over. *)
      ago_ns : int;
          (** It was told so many nanoseconds after the resumer was called. *)
    }
      (** Only a resumer that resumed is told: so there is at most one for each
          wait. There is none if the host cancelled it. *)
  | Resumed of { wait : int; task : task; domain : int; outcome : outcome }
      (** The task goes on. *)
  | Forked of { task : task; parent : task; domain : int; at : string }
      (** The new task begins, which the line [at] forked: by
          {!Concord_fifo.fork} or {!Concord.Scope.fork}, if the scheduler or the
          scope began while the program was traced; as a job of
          [Concord_domainslib]; or as code in direct style of [Concord_lwt] or
          {!Concord.Tools.Monadic}. Other hosts fork by themselves: the first
          event of such a task is that it waits, or wakes. *)
  | Ended of { task : task; domain : int }  (** A task that was forked so. *)
  | Queue of { name : string; domain : int; length : int }
      (** How many tasks are ready in a scheduler, when one of them suspends:
          only of [Concord_fifo]. *)
  | Mark of { task : task; domain : int; text : string }
      (** The program called {!mark}. *)

val mark : string -> unit
(** [mark text] is an event of the calling task, as in
    [mark "request 12 parsed"]: {!page-trace} says where it is seen.

    - {b Kept} of [text] are the first 180 bytes; characters below a space
      become spaces.
    - {b Cost}: one read while the program is not traced, but [text] is computed
      before. A microsecond or two while it is.
    - {b Raises} what a signal handler raises there. *)

val start : unit -> unit
(** From now on. It starts the runtime's events if they are not started, which
    makes their file. *)

val stop : unit -> unit
(** Nothing more is emitted, but for the ends of waits that have begun. *)

val is_on : unit -> bool
(** Is the program traced? O(1). *)

val on_signal : int -> unit
(** [on_signal Sys.sigusr2]: from now on that signal starts the trace, and the
    next one stops it, as [concord-trace --pid] asks for. It installs a signal
    handler, which OCaml calls when a thread next runs OCaml code.

    - {b Cost}: nothing until the first signal.
    - {b Not told} are the ends of waits that began before the trace, and the
      forks and ends of tasks of schedulers and scopes that did.
    - {b Raises} [Invalid_argument] or [Sys_error] as [Sys.set_signal] does. *)

val add_to :
  Runtime_events.Callbacks.t ->
  (int -> Runtime_events.Timestamp.t -> event -> unit) ->
  Runtime_events.Callbacks.t
(** [add_to callbacks f] has [f ring time event] called for each event of the
    library that a cursor reads. Rings are numbered by the runtime, and are read
    one after the other: so events are in order within a ring only. *)
