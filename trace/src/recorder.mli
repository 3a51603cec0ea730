(** A program that runs, and its events. *)

type pause = Minor | Major_slice | Stop_the_world

type event =
  | Told of Concord.Tools.Trace.event
  | Lost of { domain : int; since_ns : int; bytes : int }
      (** What this domain emitted between [since_ns] and [time_ns] was
          overwritten before it was read; [since_ns] is 0 if nothing was read of
          it before. *)
  | Paused of { domain : int; pause : pause; for_ns : int }
      (** From [time_ns] on the collector had this domain. A pause that is a
          part of another one is not told, and a minor collection includes the
          time in which it waits for the other domains. *)

type item = {
  pid : int;
  time_ns : int;  (** When it happened, by the clock of all processes. *)
  event : event;
}

type t

val find : string -> string
(** The path of this program, looked for as a shell does.

    - {b Raises} [Failure] with what is to be told, if there is none. *)

val start : string -> string list -> t
(** [start program args] runs the program, with its events in a new folder. The
    name is looked for as a shell does.

    - {b Raises} [Failure] with what is to be told, if it cannot be run. *)

val attach : int -> signal:int -> t
(** [attach pid ~signal] is a process that runs already, and has called
    {!Concord.Tools.Trace.on_signal}, or was started with
    [CONCORD_DEBUG=sigusr2]: it is sent the signal, [Sys.sigusr1] or
    [Sys.sigusr2]. On Linux.

    - {b Raises} [Failure] with what is to be told, if there is no such process,
      it belongs to another user, or handles no such signal. *)

val has_begun : t -> bool
(** Has an event been read that says so? *)

val stop : t -> unit
(** Asks a process that was attached to not to emit any more. *)

val pid : t -> int

val poll : t -> (item -> unit) -> bool
(** Reads what there is to be read, of the program and of those that it started;
    [true] if that was too much for once, and there is more. Events are in the
    order of their time for each domain of a process only. *)

val ended : t -> Unix.process_status option
(** Has the program ended? It does not wait. How one has ended that was attached
    to is not known: it is as if with 0. *)

val close : t -> unit
(** Removes the folder, if the program was started. *)

val names : t -> (int * string) list
(** Of the processes that are traced, by their numbers. *)

val has_events : t -> bool
(** Was there any process with events of the runtime? *)

val lost : t -> int
(** How many bytes of events were overwritten before they were read, the
    runtime's own events among them. *)
