open Concord__diagnosis
include Report_types

let keep_waits = Waits.keep

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

let dump_on_signal signal = Debug_signal.dump_on signal
