(** Events as what can be drawn: waits, who woke whom, and which task ran. *)

type actor = { pid : int; task : Concord.Tools.Trace.task; domain : int }
type wake = { by : actor; wake_ns : int; handed_over : bool }

type wait = {
  number : int;
  of_ : actor;
  operation : string;
  at : string;
  begun_ns : int;
  ended_ns : int;  (** The end of the trace, if it has none. *)
  outcome : Concord.Tools.Trace.outcome option;  (** [None] if it has no end. *)
  resumed_on : int;  (** The domain. *)
  wake : wake option;  (** Of a wait that ended only. *)
}

type run = { by_ : actor; from_ns : int; until_ns : int }
(** The last task on its domain that was seen to go on, until it waits, another
    one goes on there, or the trace ends. *)

type t = {
  waits : wait list;
  runs : run list;
  queues : (int * int * string * int * int) list;
      (** Process, domain, name, time, length. *)
  begun_ns : int;
  finished_ns : int;
  rows : (int * int, int) Hashtbl.t;
      (** The row of each task (process, identity), from 1 on for each process:
          tasks that are not told apart share one while they do not overlap. *)
  processes : int list;  (** Their numbers. *)
}

val is_known : Concord.Tools.Trace.task -> bool
(** Does its host tell it from others, and is it a task? *)

val label : Concord.Tools.Trace.task -> string

val make : Recorder.item list -> t
(** In any order. *)

val row : t -> actor -> int

val domains : t -> int -> int list
(** Of a process. *)

val tasks : t -> int -> (int * string) list
(** Of a process: the rows, with their names. *)
