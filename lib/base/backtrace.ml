let none = Printexc.get_callstack 0

let[@inline] get () =
  if Printexc.backtrace_status () then Printexc.get_raw_backtrace () else none
