let none = Printexc.get_callstack 0

let[@inline] get () =
  if Printexc.backtrace_status () then Printexc.get_raw_backtrace () else none

let finally f ~finally =
  match f () with
  | v ->
      finally ();
      v
  | exception e ->
      let backtrace = get () in
      finally ();
      Printexc.raise_with_backtrace e backtrace
