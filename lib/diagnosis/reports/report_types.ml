(* The types of debug.mli, which describes them. This file has no interface, because it would
   only repeat them. *)

type task = Task_id.t = { id : int; host : string; name : string }

type holder = {
  by : task;
  domain : int;
  held_for : float;
  held_at : Printexc.raw_backtrace;
}

type origin = { parent : task; forked_at : Printexc.raw_backtrace }

type target = {
  operation : string;
  structure : string option;
  state : string;
  made_at : Printexc.raw_backtrace option;
  holders : holder list;
}

type wait = {
  number : int;
  task : task;
  domain : int;
  origin : origin option;
  targets : target list;
  waits_for : float;
  waits_at : Printexc.raw_backtrace;
}

type running = {
  task : task;
  on_domain : int;
  runs_for : float;
  waited_at : Printexc.raw_backtrace;
  has_waited : bool;
}

type queue = {
  queue : string;
  kind : string;
  length : int;
  capacity : int option;
}

type report = {
  cycles : wait list list;
  behind : wait list;
  waits : wait list;
  woken : wait list;
  running : running list;
  queues : queue list;
}
