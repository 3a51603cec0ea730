(** A running program, and its events. *)

type pause = Minor | Major_slice | Stop_the_world

type event =
  | Told of Concord.Tools.Trace.event
  | Lost of { domain : int; since_ns : int; bytes : int }
      (** The events of this domain between [since_ns] and [time_ns] were
          overwritten before they were read. [since_ns] is 0 if none were read
          before. *)
  | Paused of { domain : int; pause : pause; for_ns : int }
      (** From [time_ns] on the collector ran on this domain. A pause that is a
          part of another one is not reported, and a minor collection includes
          the time in which it waits for the other domains. *)

type item = {
  pid : int;
  time_ns : int;  (** When it happened, by the clock of all processes. *)
  event : event;
}

type t

val start : string -> string list -> t
(** [start program args] runs the program, with its events in a new folder. It
    finds the name as a shell does.

    - {b Raises} [Failure] with a message for the user, if it cannot be run. *)

val attach : int -> signal:int -> t
(** [attach pid ~signal] is a process that runs already. It has called
    {!Concord.Tools.Trace.on_signal}, or was started with
    [CONCORD_DEBUG=sigusr2]. It is sent the signal, [Sys.sigusr1] or
    [Sys.sigusr2]. On Linux.

    - {b Raises} [Failure] with a message for the user, if there is no such
      process, it belongs to another user, or handles no such signal. *)

val now_ns : unit -> int
(** The clock of the events' times. It is never set. *)

val has_begun : t -> bool
(** [true] if an event has been read that says so. *)

val stop : t -> unit
(** Asks a process that was attached to to stop emitting. *)

val pid : t -> int

val poll : t -> (item -> unit) -> bool
(** Reads the available events of the program and of the programs that it
    started. It is [true] if that was too much for once, and there is more.
    Events are in the order of their time only for each domain of a process. *)

val ended : t -> Unix.process_status option
(** The status of the program, if it has ended. It does not wait. The status of
    a process that was attached to is not known, so it is 0. *)

val close : t -> unit
(** Removes the folder, if the program was started. *)

val names : t -> (int * string) list
(** The names of the processes that are traced, by their numbers. *)

val has_events : t -> bool
(** [true] if there was any process with events of the runtime. *)

val were_removed : t -> bool
(** [true] if the program has removed the folder of the events, or all files in
    it. Call it before {!close}. *)

val lost : t -> int
(** The number of bytes of events that were overwritten before they were read,
    including the runtime's own events. *)
