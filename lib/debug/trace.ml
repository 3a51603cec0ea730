type task = Tracing.task = { id : int; host : string; name : string }
type outcome = Tracing.outcome = Returned | Raised | Cancelled

type event = Tracing.event =
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

let start = Tracing.start
let stop = Tracing.stop
let is_on = Observer.is_traced

let on_signal signal =
  let toggle _ = if is_on () then stop () else start () in
  Sys.set_signal signal (Signal_handle toggle)

let[@inline] mark text = if is_on () then Tracing.mark ~ask:Identify.waker text

let add_to callbacks f =
  Tracing.register ();
  let on_event ring time event text =
    if Runtime_events.User.name event = Tracing.tag_name then
      Option.iter (f ring time) (Tracing.of_string text)
  in
  Runtime_events.Callbacks.add_user_event Tracing.payload on_event callbacks
