(** Events as objects that can be drawn. These are waits, wake-ups with their
    wakers, and runs of tasks. *)

type actor = { pid : int; task : Concord.Tools.Trace.task; domain : int }
type wake = { by : actor; wake_ns : int; handed_over : bool }

type wait = {
  number : int;
  of_ : actor;
  operation : string;
  structure : string;
  at : string;
  begun_ns : int;
  ended_ns : int;
      (** If the end was not seen, it is the time when its task did something
          later, or the end of the trace. *)
  is_sure : bool;
      (** [true] if it ended then, or still continues. [false] if its end was
          lost, or may have been. *)
  outcome : Concord.Tools.Trace.outcome option;
      (** [None] if it was not seen to end. *)
  resumed_on : int;  (** The domain. *)
  wake : wake option;  (** Of a wait that ended only. *)
  stands_for : int;
      (** For how many waits, this one included. It is 1 where none was left
          out. *)
}

val outcome_text : wait -> string
(** How the wait ended, as a reader of the page or of Perfetto sees it. *)

type run = { by_ : actor; from_ns : int; until_ns : int }
(** The last task on its domain that was seen to continue, until it waits,
    another task continues there, or the trace ends. *)

type span = { pid : int; domain : int; from_ns : int; until_ns : int }

type zone = {
  from_ns : int;
  until_ns : int;
  left_out : int;  (** How many items are missing there. *)
}
(** A time of which only some waits are left, as examples. No runs are drawn
    there. *)

type lane = {
  row : int;
  name : string;  (** Of its task, or of all tasks of its fold. *)
  fold : int;
}

type t = {
  waits : wait list;
  runs : run list;
  queues : (int * int * string * int * int) list;
      (** Process, domain, name, time, length. *)
  pauses : (span * Recorder.pause) list;
  losses : (span * int) list;  (** With their bytes. *)
  marks : (actor * int * string) list;  (** With their times. *)
  zones : zone list;  (** In the order of time. *)
  from_ns : int;
      (** Earlier events are there only because they continue here. *)
  begun_ns : int;
  finished_ns : int;
  rows : (int * int, int) Hashtbl.t;
      (** The row of each task (process, identity), from 1 on for each process.
          The tasks of one fold share rows while they do not overlap. *)
  lanes : (int, lane list) Hashtbl.t;
  folds : string array;
      (** The title of each fold. A fold has the tasks of one host and kind that
          the same line forked. If that is not known, the line is that of their
          first wait. Tasks that are not told apart are one fold for each host.
      *)
  processes : int list;  (** Their numbers. *)
}

val is_known : Concord.Tools.Trace.task -> bool
(** [true] if its host tells it from others, and it is a task. *)

val label : Concord.Tools.Trace.task -> string

val sort_of : Concord.Tools.Trace.task -> string
(** What the task has in common with others of its sort, for example
    ["eio, fiber"]. *)

val make :
  ?from_ns:int ->
  ?zones:zone list ->
  ?stands_for:(int * int, int) Hashtbl.t ->
  Recorder.item list ->
  t
(** In any order. [stands_for] is by process and number of the wait. *)

val row : t -> actor -> int

val domains : t -> int -> int list
(** Of a process. *)

val lanes : t -> int -> lane list
(** The lanes of a process, by rows. Those of a fold are next to each other. *)
