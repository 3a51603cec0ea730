(* The types of trace.mli, which describes them. This file has no interface, because
   it would only repeat them. *)

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
