type task = Debug_report.task = { id : int; host : string; name : string }

type holder = Debug_report.holder = {
  by : task;
  domain : int;
  held_for : float;
  held_at : Printexc.raw_backtrace;
}

type origin = Debug_report.origin = {
  parent : task;
  forked_at : Printexc.raw_backtrace;
}

type target = Debug_report.target = {
  operation : string;
  structure : string option;
  state : string;
  made_at : Printexc.raw_backtrace option;
  holders : holder list;
}

type wait = Debug_report.wait = {
  number : int;
  task : task;
  domain : int;
  origin : origin option;
  targets : target list;
  waits_for : float;
  waits_at : Printexc.raw_backtrace;
}

type running = Debug_report.running = {
  task : task;
  on_domain : int;
  runs_for : float;
  waited_at : Printexc.raw_backtrace;
}

type report = Debug_report.t = {
  cycles : wait list list;
  behind : wait list;
  waits : wait list;
  woken : wait list;
  running : running list;
}

let keep_waits () = Observer.(start waits)

let name structure name =
  if Identity.is_immediate structure then
    invalid_arg "Debug.name: the value is not a structure";
  Labels.add ~name structure

let named text structure =
  name structure text;
  structure

let name_task text = Task_id.name (Identify.task ()) text
let report = Debug_report.now
let to_string = Debug_text.of_report
let to_json = Debug_json.of_report

let dump channel =
  output_string channel (to_string (report ()));
  flush channel

let dump_on_signal = Debug_signal.dump_on
