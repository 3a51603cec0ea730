(** Events of a trace, and the text that they are on their way to a reader. *)

type task = Task_id.t = { id : int; host : string; name : string }
type outcome = Returned | Raised | Cancelled

type event =
  | Began of { program : string }
  | Suspended of {
      wait : int;
      task : task;
      domain : int;
      operation : string;
      structure : string;
      at : string;
    }
  | Woken of {
      wait : int;
      by : task;
      domain : int;
      suspended_on : int;
      ago_ns : int;
    }
  | Resumed of { wait : int; task : task; domain : int; outcome : outcome }
  | Forked of { task : task; parent : task; domain : int; at : string }
  | Ended of { task : task; domain : int }
  | Queue of { name : string; domain : int; length : int }
  | Mark of { task : task; domain : int; text : string }

val to_string : event -> string
(** The text has at most 1000 bytes. Longer texts are cut. A mark is cut to
    {!max_length} bytes at its end, and other events at their beginning. *)

val max_length : int

val of_string : string -> event option
(** [None] if another version of the library wrote it. *)
