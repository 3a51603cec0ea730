open Concord__diagnosis
include Trace_types

let start = Tracing.start
let stop = Tracing.stop
let is_on = Observer.is_traced
let on_signal = Tracing.on_signal
let[@inline] mark text = if is_on () then Tracing.mark ~ask:Identify.waker text

let add_to callbacks f =
  Tracing.register ();
  let on_event ring time event text =
    if Runtime_events.User.name event = Tracing.tag_name then
      Option.iter (f ring time) (Tracing.of_string text)
  in
  Runtime_events.Callbacks.add_user_event Tracing.payload on_event callbacks
