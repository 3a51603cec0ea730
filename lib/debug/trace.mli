(** Events of OCaml's runtime about what tasks do. Another process can read them
    while the program runs, to see which task waits, in which operation, and
    which task wakes it.

    {b Stability}: experimental, because a new kind of wait or report may change
    its types.

    The command [concord-trace], of the package of the same name, shows these
    events, and draws a timeline. {{!page-trace}Its page} explains how to read
    them. This module is for programs that read the events themselves:

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

    A program is traced from its start if [trace] is one of the words in the
    environment variable [CONCORD_DEBUG], or from {!start} on. While it is not
    traced, it emits nothing, and an operation has the same cost as without this
    module. While it is traced, each wait costs some microseconds.

    The events are custom ones of [Runtime_events] ([User]), all named
    ["concord"]. They are in the rings of the runtime, one for each domain, and
    the oldest are lost if no process reads for long. [OCAMLRUNPARAM=e=18] makes
    the rings larger, and [OCAML_RUNTIME_EVENTS_DIR] names the folder of their
    file. A reader's [lost_events] callback gets the number of lost words.

    None of these functions suspends. All are safe from any domain and thread.

    @canonical Concord.Tools.Trace *)

type task = {
  id : int;
      (** A number no other task has. It is the same in all events of the task.
          If a host does not tell its tasks apart, a task has a new number for
          each wait. *)
  host : string;  (** For example ["eio"], or [""] for a system thread. *)
  name : string;
      (** The name used by {!Concord.Tools.Debug} too, for example ["task 12"].
          It is ["a task"] if the host does not tell its tasks apart. It is
          ["an operation"] for an operation of promises, or of a monadic style.
          This is not a task, because it waits by itself, and its caller has
          returned. *)
}

type outcome =
  | Returned
  | Raised  (** The waker gave an exception, or the operation raised it. *)
  | Cancelled
      (** The host raised an exception, because it has cancelled the task. *)

(** Domains are numbered as by [Domain.self]. *)
type event =
  | Began of { program : string }  (** The program is traced from here on. *)
  | Suspended of {
      wait : int;
          (** The number of the wait. The next two events have the same. *)
      task : task;
      domain : int;
      operation : string;
          (** For example ["Mvar.take"], or several between commas. It is [""]
              if it is not an operation of the library. *)
      structure : string;
          (** The structure's name, or several between commas. It is [""] if the
              structure has none. *)
      at : string;
          (** The line of the program, for example ["server.ml:12"]. It is [""]
              if the program was compiled without [-g]. *)
    }
  | Woken of {
      wait : int;
      by : task;
          (** The task calling the resumer. If its scheduler doesn't tell its
              tasks apart, it is the task around the scheduler, of the nearest
              host that does. A timeout is a thread, and so is an event of the
              operating system. *)
      domain : int;  (** The waker's domain. *)
      suspended_on : int;
          (** The domain on which the task suspended. If the waker's domain is
              another one, the task was handed over. *)
      ago_ns : int;
          (** The nanoseconds between the call of the resumer and this event. *)
    }
      (** A resumer has resumed a task. Only the successful resumer emits this
          event, so there is at most one for each wait. There is none if the
          host cancelled the wait. *)
  | Resumed of { wait : int; task : task; domain : int; outcome : outcome }
      (** The task continues. *)
  | Forked of { task : task; parent : task; domain : int; at : string }
      (** The new task begins, which the line [at] forked. The event is emitted
          for these tasks:

          - tasks of {!Concord_fifo.fork} or {!Concord.Scope.fork}, if the
            scheduler or the scope began while the program was traced;
          - jobs of [Concord_domainslib];
          - code in direct style of [Concord_lwt] or {!Concord.Tools.Monadic}.

          Other hosts fork by themselves, so the first event of such a task is a
          wait, or a wake. *)
  | Ended of { task : task; domain : int }
      (** A task of a [Forked] event has ended. *)
  | Queue of { name : string; domain : int; length : int }
      (** The number of ready tasks in a scheduler, when one of them suspends.
          Only [Concord_fifo] emits it. *)
  | Mark of { task : task; domain : int; text : string }
      (** The program called {!mark}. *)

val mark : string -> unit
(** [mark text] emits an event of the calling task, for example
    [mark "request 12 parsed"].

    {!page-trace} shows where you see it. The event keeps the first 180 bytes of
    [text], and characters below a space become spaces.

    - {b Cost}: one read while the program is not traced, but [text] is computed
      before. A microsecond or two while it is. *)

val start : unit -> unit
(** [start ()] traces the program from now on. It starts the runtime's events if
    they are not started, which makes their file. *)

val stop : unit -> unit
(** [stop ()] ends the trace. Only the ends of waits in progress are still
    emitted. *)

val is_on : unit -> bool
(** [is_on ()] is [true] if the program is traced. O(1). *)

val on_signal : int -> unit
(** [on_signal Sys.sigusr2] makes this signal start the trace, and the next one
    stop it, as [concord-trace --pid] needs.

    The trace starts when a thread next runs OCaml code. The trace doesn't have
    the ends of earlier waits, nor the forks and ends of tasks whose schedulers
    and scopes did.

    - {b Cost}: nothing until the first signal.
    - {b Raises} [Invalid_argument] or [Sys_error] as [Sys.set_signal] does. *)

val add_to :
  Runtime_events.Callbacks.t ->
  (int -> Runtime_events.Timestamp.t -> event -> unit) ->
  Runtime_events.Callbacks.t
(** [add_to callbacks f] adds [f] to [callbacks], and [f ring time event] is
    called for each of the library's events read by a cursor.

    The runtime numbers the rings, and they are read one after the other. Events
    are in order within a ring only. *)
